"""The functions of MuJoCo's Python interface, by topic."""

from cardan.api.callbacks import *
from cardan.api.collisions import *
from cardan.api.defaults import *
from cardan.api.derivatives import *
from cardan.api.distance import *
from cardan.api.loading import *
from cardan.api.mjspec import *
from cardan.api.mju_bands import *
from cardan.api.mju_boxqp import *
from cardan.api.mju_matrices import *
from cardan.api.mju_quaternions import *
from cardan.api.mju_scalars import *
from cardan.api.mju_vectors import *
from cardan.api.muscles import *
from cardan.api.names import *
from cardan.api.pipeline import *
from cardan.api.plugins import *
from cardan.api.rays import *
from cardan.api.saving import *
from cardan.api.state import *
from cardan.api.support import *
