"""Worlds side by side in memory, for processors that run them in lanes, beside the usual layout of one world."""
