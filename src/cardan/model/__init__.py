"""The tables of all fields, and the two classes made from them."""

from cardan.model.mjdata import MjContact, MjData
from cardan.model.mjmodel import MjModel, MjOption, MjStatistic, MjVisual

__all__ = ["MjContact", "MjData", "MjModel", "MjOption", "MjStatistic", "MjVisual"]
