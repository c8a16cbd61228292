"""MJCF, the text form of a model: the language as a table, and the way between text and tree.

- ``rows``: what a row of the table is (elements and attributes); ``keywords``: the words attributes may hold;
- ``schema``: the whole table, put together from ``schema_settings``, ``schema_asset``, ``schema_body``,
  ``schema_relations``, ``schema_actuator`` and ``schema_sensor``;
- ``values``: attribute text to typed value; ``rules``: what no single attribute can check; ``reader``: file to tree;
- ``errors``: the errors, each with file, line, element and attribute; ``docs``: ``docs/mjcf.md`` from the table.

This package imports nothing by itself, so that ``cardan.spec`` can use the table and the reader can use
``cardan.spec``.
"""
