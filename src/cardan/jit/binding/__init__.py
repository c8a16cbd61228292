"""Bindings of the interface's functions: native code that checks the arguments of a call and runs the kernel."""
