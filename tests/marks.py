"""Marks of tests."""

import pytest

from cardan.jit import jit_enabled

takes_minutes_interpreted = pytest.mark.skipif(not jit_enabled, reason="takes minutes in the interpreter")
