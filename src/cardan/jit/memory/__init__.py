"""Structures in memory: rows of fields, slot tables, the checked view of the interpreter."""
