"""All `mju_*` functions that exist, in one namespace."""

from cardan.api import mju_matrices, mju_quaternions, mju_scalars, mju_vectors

MJU = {
    name: function
    for module in (mju_vectors, mju_matrices, mju_quaternions, mju_scalars)
    for name, function in vars(module).items()
    if name.startswith("mju_")
}
"""The functions by name."""
