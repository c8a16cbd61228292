"""Targets of native code: processors, processor levels, platforms, GPUs."""
