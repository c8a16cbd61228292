"""Paired timings against the reference engine. ``python -m benchmarks`` (or ``make bench``) runs them all."""
