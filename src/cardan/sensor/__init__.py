"""Sensors: one table of types, and the stages made from it."""

from cardan.sensor.stages import needs_rne_post, needs_subtree_vel, sensor_stages

__all__ = ["needs_rne_post", "needs_subtree_vel", "sensor_stages"]
