"""Errors of MuJoCo's interface."""


class FatalError(Exception):
    """A function was asked for something that it can't do, where the C library would stop the program."""


class UnexpectedError(Exception):
    """Something went wrong that should not have been possible."""
