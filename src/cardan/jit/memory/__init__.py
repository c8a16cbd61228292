"""Structures in memory: tables of fields, slot tables, and the checked view of the interpreter."""
