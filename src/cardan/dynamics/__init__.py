"""Smooth dynamics: kinematics, inertia, velocity, bias, passive and actuator forces, energy, derivatives."""
