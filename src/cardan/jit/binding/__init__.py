"""Functions of the interface as native code from the first argument on."""
