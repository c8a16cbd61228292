"""Length ranges of actuators (spec: modeling, length range; MJCF element ``compiler/lengthrange``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardan.enums import mjtBias, mjtGain, mjtLRMode, mjtTrn
from cardan.model import internals
from cardan.model.attributes import listing
from cardan.step.lengthrange import LengthSearch, Search

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.model.mjmodel import MjModel

_JOINTS = (int(mjtTrn.mjTRN_JOINT), int(mjtTrn.mjTRN_JOINTINPARENT))
_MUSCLE = (int(mjtGain.mjGAIN_MUSCLE), int(mjtBias.mjBIAS_MUSCLE))
_USER = (int(mjtGain.mjGAIN_USER), int(mjtBias.mjBIAS_USER))


@dataclass(slots=True, repr=False)
class MjLROpt:
    """Options of `mj_setLengthRange`; initially zero (`mj_defaultLROpt` sets the defaults).

    Attributes:
        mode: kinds of actuators to process (`mjtLRMode`).
        useexisting: keep ranges whose lower bound is less than the upper bound.
        uselimit: use the limits of a limited joint or tendon as the range.
        accel: norm of the joint acceleration that the force pulling an actuator causes.
        maxforce: bound on the force; 0 means no bound.
        timeconst: time constant (s) with which velocities decay; at least 0.01.
        timestep: time step (s) of the simulation; 0 means the model's time step.
        inttotal: duration (s) of the simulation.
        interval: time (s) at the end of the simulation in which lengths are measured.
        tolrange: largest variation of the length in this interval, as a fraction of the range.
    """

    mode: int = 0
    useexisting: int = 0
    uselimit: int = 0
    accel: float = 0.0
    maxforce: float = 0.0
    timeconst: float = 0.0
    timestep: float = 0.0
    inttotal: float = 0.0
    interval: float = 0.0
    tolrange: float = 0.0

    def __repr__(self) -> str:
        return listing(self, type(self).__name__, sorted(self.__slots__))


class LengthRangeError(ValueError):
    """The length range of an actuator cannot be found."""


def is_processed(kinds: tuple[int, int], mode: int) -> bool:
    """Return whether a mode (`mjtLRMode`) includes an actuator; ``kinds`` are its gain type and its bias type."""
    muscle, user = (kinds[0] == gain or kinds[1] == bias for gain, bias in (_MUSCLE, _USER))
    return (
        mode == mjtLRMode.mjLRMODE_ALL
        or (muscle and mode in (mjtLRMode.mjLRMODE_MUSCLE, mjtLRMode.mjLRMODE_MUSCLEUSER))
        or (user and mode == mjtLRMode.mjLRMODE_MUSCLEUSER)
    )


class LengthRanges:
    """Computes the length ranges of a model, one actuator at a time.

    The simulation is prepared when the first actuator needs it.
    """

    def __init__(self, m: MjModel, opt: MjLROpt) -> None:
        self.m, self.opt = m, opt
        self._search: LengthSearch | None = None

    def set(self, actuator: int) -> None:
        """Set ``actuator_lengthrange`` of an actuator, if the options require it.

        Raises:
            LengthRangeError: the simulation finds no range, or the lengths do not settle.
        """
        m, opt = self.m, self.opt
        out = int(m.actuator_outadr[actuator])
        low, high = m.actuator_lengthrange[out]
        gain, bias = (int(internals.array(m, f"actuator_{part}type")[actuator]) for part in ("gain", "bias"))
        if not is_processed((gain, bias), opt.mode) or (opt.useexisting and low < high):
            return
        kind, target = int(m.actuator_trntype[actuator]), int(m.actuator_trnid[actuator, 0])
        if opt.uselimit and kind in _JOINTS and m.jnt_limited[target]:
            m.actuator_lengthrange[out] = m.jnt_range[target]
        elif opt.uselimit and kind == mjtTrn.mjTRN_TENDON and m.tendon_limited[target]:
            m.actuator_lengthrange[out] = m.tendon_range[target]
        else:
            m.actuator_lengthrange[out] = self._find(out)

    def _find(self, out: int) -> tuple[float, float]:
        opt = self.opt
        if self._search is None:
            how = Search(opt.accel, opt.maxforce, opt.timeconst, opt.timestep, opt.inttotal, opt.interval)
            try:
                self._search = LengthSearch(self.m, how)
            except ValueError as error:
                raise LengthRangeError(str(error)) from None
        (low, change_low), (high, change_high) = (self._search.extreme(out, side) for side in (0, 1))
        if not low < high:
            raise LengthRangeError(f"no range of lengths: the search ended at {low:g} and {high:g}")
        if not max(change_low, change_high) <= opt.tolrange * (high - low):
            raise LengthRangeError(
                f"the search for the range of lengths didn't settle: at its end the length still changed by "
                f"{max(change_low, change_high):g}, and the range is {low:g} to {high:g}; is the length limited by "
                "joints, tendons or geometry? Else give lengthrange"
            )
        return low, high


def set_length_ranges(build: Build, m: MjModel) -> None:
    """Set the length ranges of a newly compiled model.

    Raises:
        MjcfError: a range cannot be found.
    """
    compiler = build.tree.section("compiler")
    row = compiler.row.children["lengthrange"]
    given = compiler.child("lengthrange")
    values = given.resolved() if given is not None else dict(row.defaults)
    mode = row.attributes["mode"].keywords[values.pop("mode")]
    kinds = [*zip(build.columns["actuator_gaintype"], build.columns["actuator_biastype"], strict=True)]
    processed = {kind: is_processed(kind, mode) for kind in set(kinds)}
    if True not in processed.values():
        return
    ranges = LengthRanges(m, MjLROpt(mode=mode, **values))
    for actuator, element in enumerate(build.tree.section("actuator").children):
        if not processed[kinds[actuator]]:
            continue
        try:
            ranges.set(actuator)
        except LengthRangeError as error:
            raise element.error(str(error), "lengthrange") from None
