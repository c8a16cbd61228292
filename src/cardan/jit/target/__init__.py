"""Targets of native code: processors, their levels, platforms, graphics processors."""
