"""Builds the wheels: a pure one, and one for each platform with all kernels compiled (`python -m wheels`)."""
