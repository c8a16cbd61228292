"""The MJCF language as a table of all elements and attributes (spec: modeling, "MJCF").

- ``rows``: the types of rows (elements and attributes); ``keywords``: keywords of attributes;
- ``language``: the whole table, assembled from ``settings``, ``asset``, ``body``, ``relations``, ``actuator`` and
  ``sensor``; ``shared``: attributes that several elements have.

This package imports nothing by itself, so that a reader of one row does not load the whole table.
"""
