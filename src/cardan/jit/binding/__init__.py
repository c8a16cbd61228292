"""Bindings of the interface's functions: native code from the first argument on."""
