"""The functions of MuJoCo's Python interface, by topic."""

from cardan.api.callbacks import *  # noqa: F403
from cardan.api.loading import *  # noqa: F403
from cardan.api.mju_matrices import *  # noqa: F403
from cardan.api.mju_quaternions import *  # noqa: F403
from cardan.api.mju_scalars import *  # noqa: F403
from cardan.api.mju_vectors import *  # noqa: F403
from cardan.api.names import *  # noqa: F403
from cardan.api.pipeline import *  # noqa: F403
from cardan.api.state import *  # noqa: F403
from cardan.api.support import *  # noqa: F403
