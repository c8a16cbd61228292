"""The front end of the compiler: from Python functions to object code."""
