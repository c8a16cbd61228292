"""Solvers of the constraint problem: islands, primal cost, line search, dense and sparse Hessians, dual solvers."""
