"""Tangents of compiled stages, for exact derivatives: transforms of their LLVM code."""
