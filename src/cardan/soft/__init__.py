"""Deformable objects: positions and boxes of flexes, edges as springs, dampers and constraints, contacts, rays."""
