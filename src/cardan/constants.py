"""Numeric limits, array sizes and string tables of the interface, with the names and values of MuJoCo 3.1.6.

`LATER` has the values of 4.0.0, where these differ.
"""

from math import pi as _pi
from typing import Any

from numpy import float64 as _float64

MJTNUM_DTYPE = _float64
"""NumPy type of MuJoCo's numbers (mjtNum)."""
MJTNUM_BYTES: int = 8
"""Size of MuJoCo's numbers (mjtNum), in bytes."""

mjVERSION_HEADER: int = 316
"""Version of the interface that this package provides: 3.1.6."""

# numbers
mjPI: float = _pi
mjMAXVAL: float = 1e10
"""Largest absolute value in qpos, qvel and qacc; a simulation with larger values counts as diverged."""
mjMINVAL: float = 1e-15
"""Smallest denominator, and smallest norm of a vector that is normalised."""
mjMINMU: float = 1e-5
"""Smallest friction coefficient."""
mjMINIMP: float = 0.0001
"""Smallest constraint impedance."""
mjMAXIMP: float = 0.9999
"""Largest constraint impedance."""

# limits of the computation
mjMAXCONPAIR: int = 50
"""Largest number of contacts of one pair of geoms."""
mjMAXTREEDEPTH: int = 50
"""Largest depth of a bounding volume hierarchy."""
mjMINAWAKE: int = 10
"""Number of steps at rest after which a tree may sleep."""
mjMAXFLEXNODES: int = 27
"""Largest number of nodes of a cell of a flex."""
mjMAXVFS: int = 2000
"""Largest number of files in a virtual file system."""
mjMAXVFSNAME: int = 1000
"""Largest length of a file name in a virtual file system, plus 1."""

# lengths of parameter arrays
mjNEQDATA: int = 11
"""Columns of eq_data."""
mjNDYN: int = 10
"""Columns of actuator_dynprm."""
mjNGAIN: int = 10
"""Columns of actuator_gainprm."""
mjNBIAS: int = 10
"""Columns of actuator_biasprm."""
mjNPOLY: int = 2
"""Number of higher coefficients of springs and dampers."""
mjNSENS: int = 3
"""Columns of sensor_intprm."""
mjNFLUID: int = 12
"""Columns of geom_fluid."""
mjNREF: int = 2
"""Length of a solver reference (solref)."""
mjNIMP: int = 5
"""Length of a solver impedance (solimp)."""
mjNSOLVER: int = 200
"""Number of solver iterations that are recorded for each island."""
mjNISLAND: int = 20
"""Number of islands whose solver iterations are recorded."""

# bits of arguments of engine functions in C: read, written
mjSC_IN: int = 1
mjSC_OUT: int = 2
mjSC_INOUT: int = 3

# visualiser
mjNGROUP: int = 6
"""Number of groups into which geoms, sites, joints, ... are sorted, to show or hide them."""
mjMAXLIGHT: int = 100
mjMAXOVERLAY: int = 500
mjMAXLINE: int = 100
mjMAXLINEPNT: int = 1000
mjMAXPLANEGRID: int = 200

# names of flags, labels and timers, in the order of their enumerations
mjDISABLESTRING: tuple[str, ...] = (
    "Constraint",
    "Equality",
    "Frictionloss",
    "Limit",
    "Contact",
    "Passive",
    "Gravity",
    "Clampctrl",
    "Warmstart",
    "Filterparent",
    "Actuation",
    "Refsafe",
    "Sensor",
    "Midphase",
    "Eulerdamp",
)
"""Names of the bits of `mjtDisableBit`."""
mjENABLESTRING: tuple[str, ...] = (
    "Override",
    "Energy",
    "Fwdinv",
    "InvDiscrete",
    "MultiCCD",
    "Island",
)
"""Names of the bits of `mjtEnableBit`."""
mjTIMERSTRING: tuple[str, ...] = (
    "step",
    "forward",
    "inverse",
    "position",
    "velocity",
    "actuation",
    "constraint",
    "advance",
    "pos_kinematics",
    "pos_inertia",
    "pos_collision",
    "pos_make",
    "pos_project",
    "col_broadphase",
    "col_narrowphase",
)
"""Names of the timers of `mjtTimer`."""
mjLABELSTRING: tuple[str, ...] = (
    "None",
    "Body",
    "Joint",
    "Geom",
    "Site",
    "Camera",
    "Light",
    "Tendon",
    "Actuator",
    "Constraint",
    "Flex",
    "Skin",
    "Selection",
    "SelPoint",
    "Contact",
    "ContactForce",
    "Island",
)
"""Names of the labels of `mjtLabel`."""
mjFRAMESTRING: tuple[str, ...] = (
    "None",
    "Body",
    "Geom",
    "Site",
    "Camera",
    "Light",
    "Contact",
    "World",
)
"""Names of the frames of `mjtFrame`."""
mjVISSTRING: tuple[tuple[str, str, str], ...] = (
    ("Convex Hull", "0", "H"),
    ("Texture", "1", "X"),
    ("Joint", "0", "J"),
    ("Camera", "0", "Q"),
    ("Actuator", "0", "U"),
    ("Activation", "0", ","),
    ("Light", "0", "Z"),
    ("Tendon", "1", "V"),
    ("Range Finder", "1", "Y"),
    ("Equality", "0", "E"),
    ("Inertia", "0", "I"),
    ("Scale Inertia", "0", "'"),
    ("Perturb Force", "0", "B"),
    ("Perturb Object", "1", "O"),
    ("Contact Point", "0", "C"),
    ("Island", "1", ""),
    ("Contact Force", "0", "F"),
    ("Contact Split", "0", "P"),
    ("Transparent", "0", "T"),
    ("Auto Connect", "0", "A"),
    ("Center of Mass", "0", "M"),
    ("Select Point", "0", ""),
    ("Static Body", "1", "D"),
    ("Skin", "1", ";"),
    ("Flex Vert", "0", ""),
    ("Flex Edge", "0", ""),
    ("Flex Face", "0", ""),
    ("Flex Skin", "1", ""),
    ("Body Tree", "0", "`"),
    ("Flex Tree", "0", ""),
    ("Mesh Tree", "0", "\\"),
    ("SDF iters", "0", ""),
)
"""Name, default (0 or 1) and key of each flag of `mjtVisFlag`."""
mjRNDSTRING: tuple[tuple[str, str, str], ...] = (
    ("Shadow", "1", "S"),
    ("Wireframe", "0", "W"),
    ("Reflection", "1", "R"),
    ("Additive", "0", "L"),
    ("Skybox", "1", "K"),
    ("Fog", "0", "G"),
    ("Haze", "1", "/"),
    ("Segment", "0", ","),
    ("Id Color", "0", ""),
    ("Cull Face", "1", ""),
)
"""Name, default (0 or 1) and key of each flag of `mjtRndFlag`."""


def _changed(table: tuple[Any, ...], drop: str = "", **changes: Any) -> tuple[Any, ...]:
    """Return a table without the rows `drop` (separated by spaces); ``changes`` are rows after the named ones."""
    rows: list[Any] = []
    for row in table:
        name = row if isinstance(row, str) else row[0]
        if name not in drop.split(","):
            rows.append(row)
        rows += changes.get(name.replace(" ", "_"), ())
    return tuple(rows)


LATER: dict[str, Any] = {
    "mjVERSION_HEADER": 4000000,
    "mjNEQDATA": 12,
    "mjMAXLINEPNT": 1001,
    "mjDISABLESTRING": (
        *_changed(mjDISABLESTRING, "Passive", Contact=("Spring", "Damper")),
        *("AutoReset", "NativeCCD", "Island", "MultiCCD"),
    ),
    "mjENABLESTRING": (*_changed(mjENABLESTRING, "MultiCCD,Island"), "Sleep", "DiagExact", "IPC", "Speculative"),
    "mjRNDSTRING": (*_changed(mjRNDSTRING, Haze=(("Depth", "0", ""),)), ("Post Processing", "1", "")),
    "mjVISSTRING": _changed(
        mjVISSTRING,
        "Island,Flex Edge,Flex Tree",
        Contact_Point=(("Island", "0", "N"),),
        Flex_Vert=(("Flex Edge", "1", ""),),
    ),
}
"""Constants that have another value in MuJoCo 4.0: what the names mean in a process with compat 4.0."""
