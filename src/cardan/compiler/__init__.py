"""The compiler: from the model tree that the user wrote to an `MjModel` (spec: modelling)."""
