"""Targets of native code: processors, levels of processors, platforms, GPUs."""
