"""From the tree that the user wrote to the compiled model (spec: modelling)."""
