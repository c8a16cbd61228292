"""All available `mju_*` functions in one namespace."""

from cardan.api import defaults, mju_bands, mju_boxqp, mju_matrices, mju_quaternions, mju_scalars, mju_vectors

MJU = {
    name: function
    for module in (mju_vectors, mju_matrices, mju_bands, mju_boxqp, mju_quaternions, mju_scalars, defaults)
    for name, function in vars(module).items()
    if name.startswith("mju_")
}
"""The functions by name."""
