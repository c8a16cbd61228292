"""Read MJCF, the text form of a model, into the tree (``cardan.spec``), driven by the table of the language.

- ``reader``: file to tree; ``values``: attribute text to typed value; ``checks``: references by name, whole trees;
- ``rules``: checks that involve several attributes; ``docs``: ``docs/mjcf.md`` from the table.
"""
