"""Other programs than the one that a kernel says, made from its code: tangents, single precision."""
