"""Tangents of compiled stages, for exact derivatives, made by transforming the stages' LLVM code."""
