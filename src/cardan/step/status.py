"""Requests that the stages of this chapter make to the one who runs them (beside those of `cardan.jit.stage`)."""

DIVERGED = -3  # a check found a bad number: reset, compute the forward dynamics if needed, then go on after this stage
WARNED = -4  # new warnings were counted
ROLLOUT_FROZEN = -5  # a world of a rollout raised a warning: its remaining rows repeat the last one
