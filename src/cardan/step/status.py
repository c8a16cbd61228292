"""Status codes of the stages of a step.

A stage is native code: it can't allocate memory, raise an exception or call Python. If it needs one of these, it
returns a negative number. The driver then stops and passes the number to `cardan.step.run`, whose table contains the
Python function that handles it. Then the program continues. The codes of all stages are in `cardan.jit.front.stage`.
"""

DIVERGED = -3  # a check found a bad number: reset, run the forward dynamics if needed, continue after this stage
WARNED = -4  # new warnings were counted
ROLLOUT_FROZEN = -5  # a world of a rollout raised a warning: its remaining rows repeat the last one
