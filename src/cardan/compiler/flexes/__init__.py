"""Flexes: deformable objects whose vertices follow bodies (spec: modeling, "Deformable objects")."""
