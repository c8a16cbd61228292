"""The MJCF language as a table of all elements and attributes (spec: modeling, "MJCF").

- ``rows``: the types of rows (elements and attributes); ``keywords``: keywords of attributes;
- ``language``: the whole table, assembled from ``settings``, ``asset``, ``body``, ``relations``, ``actuator`` and
  ``sensor``; ``shared``: attributes that several elements have.

The package itself imports none of these, so that code that needs a single row does not load the whole table.
"""
