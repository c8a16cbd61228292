"""A scene as kernels see it: indices of its words, and its memory.

The geoms of an `MjvScene` are stored in one array of structures, with the layout of MuJoCo's `mjvGeom`. Kernels see the
array twice, as 32-bit integers and as 32-bit floats, and address a member by the index of its word (`GEOM["pos"]`).
Each word is always used with the same type. Options, selection and camera are copied into two small arrays
(`scn_state`, `scn_pose`), whose indices are defined below.

While a scene is updated, the slots ``d.work.scn_*`` of the data point to this memory.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.enums import mjtFrame, mjtLabel, mjtVisFlag
from cardan.enums.codes import CAMERA_TRACKING
from cardan.jit import jit_enabled
from cardan.jit.memory.fields import WORDS
from cardan.model import internals
from cardan.model.tables import DATA
from cardan.visual import fields
from cardan.visual.record import dtype_of, words_of

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel
    from cardan.visual.structs import MjvCamera, MjvOption, MjvPerturb

GEOM = words_of(dtype_of(fields.GEOM))
"""Index of the first word of each member of a geom."""
LIGHT = words_of(dtype_of(fields.LIGHT))
"""Index of the first word of each member of a light; word `headlight` holds the bytes headlight, directional and
castshadow."""
CAMERA = words_of(dtype_of(fields.GL_CAMERA))
"""Index of the first word of each member of a camera."""

NGROUP = fields.NGROUP
# entries of scn_state
NGEOM, MAXGEOM, NLIGHT, CATMASK, FULL = range(5)
CAM_TYPE, CAM_FIXED, CAM_TRACK = range(5, 8)
SELECT, FLEXSELECT, SKINSELECT, ACTIVE, ACTIVE2 = range(8, 13)
LABEL, FRAME, BVH_DEPTH, FLEX_LAYER = range(13, 17)
GEOMGROUP, SITEGROUP, JOINTGROUP, TENDONGROUP, ACTUATORGROUP, FLEXGROUP, SKINGROUP = range(17, 17 + 7 * NGROUP, NGROUP)
FLAGS = SKINGROUP + NGROUP
VIS = {name.removeprefix("mjVIS_"): FLAGS + int(flag) for name, flag in mjtVisFlag.__members__.items()}
"""Index in `scn_state` of each flag of the options, by name."""
LABELS = {name.removeprefix("mjLABEL_"): int(kind) for name, kind in mjtLabel.__members__.items()}
FRAMES = {name.removeprefix("mjFRAME_"): int(kind) for name, kind in mjtFrame.__members__.items()}
"""Values of mjtFrame and mjtLabel, by name."""
NFLAG = next(len(np.zeros(row.shape)) for row in fields.OPTION if row.name == "flags")
CAM_ORTHOGRAPHIC = FLAGS + NFLAG
"""Index of a flag: whether the abstract camera is orthographic; after an update, whether the scene's cameras are."""
NSTATE = CAM_ORTHOGRAPHIC + 1
# entries of scn_pose: the reals of a camera, then those of a perturbation
LOOKAT, DISTANCE, AZIMUTH, ELEVATION = 0, 3, 4, 5
REFPOS, REFQUAT, REFSELPOS, LOCALPOS, LOCALMASS, SCALE = 6, 9, 13, 16, 19, 20
NPOSE = 21

_SLOTS = tuple(field.name for field in DATA.fields if field.name.startswith("work.scn_"))
_FIRST = DATA.slot[_SLOTS[0]]
_OPTION = words_of(dtype_of(fields.OPTION))
_OPTION_BYTES = slice(4 * _OPTION["geomgroup"], 4 * _OPTION["geomgroup"] + 7 * NGROUP + NFLAG)
_LOOKAT = 4 * words_of(dtype_of(fields.CAMERA))["lookat"]
_PERTURB = words_of(dtype_of(fields.PERTURB))


def _part(values: np.ndarray, first: int, count: int, dtype: type) -> np.ndarray:
    """Return a view of `count` numbers in a structure, from byte `first` on."""
    return np.ndarray((count,), dtype, values.data, first)


def _words(structures: np.ndarray, dtype: type) -> np.ndarray:
    """Return a view of an array of structures as 32-bit words, one structure in each row."""
    return structures.view(dtype).reshape(len(structures), structures.itemsize // 4)


class SceneMemory:
    """Memory of one scene, as kernels see it: arrays of structures, and other arrays by name."""

    def __init__(
        self, geoms: np.ndarray, lights: np.ndarray, cameras: np.ndarray, arrays: Mapping[str, np.ndarray]
    ) -> None:
        self._model: weakref.ref[MjModel] | None = None
        self._programs: dict[Any, Any] = {}
        self.state = np.zeros(NSTATE, np.int32)
        self.pose = np.zeros(NPOSE)
        self.labels = np.zeros((len(geoms), 2), np.int32)
        self._option = self._camera = b""
        self._eyes = cameras
        views = {
            "state": self.state,
            "pose": self.pose,
            "label": self.labels,
            "vertnormal": np.zeros(len(arrays["flexvert"])),
            "geom_i": _words(geoms, np.int32),
            "geom_f": _words(geoms, np.float32),
            "light_i": _words(lights, np.int32),
            "light_f": _words(lights, np.float32),
            "camera": _words(cameras, np.float32),
        }
        self.arrays = {name: views.get(short := name.removeprefix("work.scn_"), arrays.get(short)) for name in _SLOTS}
        rows = [(a.ctypes.data, a.shape[0], a.shape[1] if a.ndim > 1 else 1) for a in self._all()]
        self.rows = np.array(rows, np.int64).reshape(-1, WORDS)

    def _all(self) -> list[np.ndarray]:
        return [array for array in self.arrays.values() if array is not None]

    def attach(self, d: MjData) -> None:
        """Make this scene visible to the kernels that run on `d` (an MjData) from now on."""
        memory = internals.memory(d)
        memory.slots[_FIRST : _FIRST + len(_SLOTS)] = self.rows
        if not jit_enabled:
            memory.arrays.update(self.arrays)
            internals.forget_view(d)

    def put_option(self, option: MjvOption) -> None:
        """Copy the members of an MjvOption."""
        values = option.values
        if (now := values.tobytes()) == self._option:
            return  # images of a series are drawn with the same options
        self._option = now
        words = _part(values, 0, values.nbytes // 4, np.int32)
        state = self.state
        state[LABEL], state[FRAME] = words[_OPTION["label"]], words[_OPTION["frame"]]
        state[BVH_DEPTH], state[FLEX_LAYER] = words[_OPTION["bvh_depth"]], words[_OPTION["flex_layer"]]
        state[GEOMGROUP:CAM_ORTHOGRAPHIC] = _part(values, 0, values.nbytes, np.uint8)[_OPTION_BYTES]

    def put_perturb(self, perturb: MjvPerturb | None) -> None:
        """Copy the members of an MjvPerturb; None selects nothing."""
        if perturb is None:
            self.state[SELECT : ACTIVE2 + 1] = (0, -1, -1, 0, 0)
            return
        values = perturb.values
        self.state[SELECT : ACTIVE2 + 1] = _part(values, 4 * _PERTURB["select"], 5, np.int32)
        self.pose[REFPOS:NPOSE] = _part(values, 4 * _PERTURB["refpos"], NPOSE - REFPOS, np.float64)

    def programs_of(self, m: MjModel) -> dict[Any, Any]:
        """Return the cached programs that update this scene for a model; clear the cache if the model changed."""
        if self._model is None or self._model() is not m:
            self._model = weakref.ref(m)
            self._programs = {}
        return self._programs

    @property
    def wishes(self) -> tuple[bytes, int, bool]:
        """Values that determine a scene's stages: options, categories, and whether a body is selected."""
        state = self.state
        return state[LABEL:CAM_ORTHOGRAPHIC].tobytes(), int(state[CATMASK]), bool(state[SELECT] > 0)

    def put_camera(self, camera: MjvCamera) -> None:
        """Copy the members of an MjvCamera."""
        self.state[CAM_ORTHOGRAPHIC] = camera.values["orthographic"]
        if (now := camera.values.tobytes()) == self._camera and self.state[CAM_TYPE] != CAMERA_TRACKING:
            return  # kernels only move tracking cameras
        self._camera = now
        self.state[CAM_TYPE : CAM_TRACK + 1] = _part(camera.values, 0, 3, np.int32)
        self.pose[LOOKAT:REFPOS] = _part(camera.values, _LOOKAT, 6, np.float64)

    def get_camera(self, camera: MjvCamera) -> None:
        """Copy results of stages: set the projection of the scene's cameras, and `lookat` of a tracking `camera`."""
        self._eyes["orthographic"] = self.state[CAM_ORTHOGRAPHIC]
        if self.state[CAM_TYPE] == CAMERA_TRACKING:
            camera.values["lookat"] = self.pose[LOOKAT:DISTANCE]
