"""Sensors: one table of types, and the stages made from it."""

from cardan.sensor.table import all_sensor_stages, needs_rne_post, needs_subtree_vel, sensor_stages

__all__ = ["all_sensor_stages", "needs_rne_post", "needs_subtree_vel", "sensor_stages"]
