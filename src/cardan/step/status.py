"""Requests that the stages of this chapter make to the one who runs them (beside those of `cardan.jit.stage`)."""

FORWARD_AGAIN = -3  # the state was reset: compute the forward dynamics of the new one, then go on after this stage
WARNED = -4  # new warnings were counted
ROLLOUT_FROZEN = -5  # a world of a rollout raised a warning: its remaining rows repeat the last one
