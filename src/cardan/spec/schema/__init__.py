"""The MJCF language as a table: every element and attribute that may stand in a model (spec: modeling, "MJCF").

- ``rows``: what a row of the table is (elements and attributes); ``keywords``: the words attributes may hold;
- ``language``: the whole table, put together from ``settings``, ``asset``, ``body``, ``relations``, ``actuator`` and
  ``sensor``; ``shared``: attributes that several elements have.

This package imports nothing by itself, so that a reader of one row doesn't load the whole table.
"""
