"""Bindings of the interface's functions, which make a call native from its first argument on."""
