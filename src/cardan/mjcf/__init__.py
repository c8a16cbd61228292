"""MJCF, the text form of a model: the way from text to the tree (``cardan.spec``), by the table of the language.

- ``reader``: file to tree; ``values``: attribute text to typed value; ``references``: names and what refers to them;
- ``rules``: what no single attribute can check; ``docs``: ``docs/mjcf.md`` from the table.
"""
