"""Loading of native code, and execution of programs of stages for one world or many worlds."""
