"""Loading native code, and running programs of stages for one world and for many."""
