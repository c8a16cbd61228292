"""What stages ask for on a GPU, answered between launches: memory, resets of diverged worlds, warnings."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from cardan.batch.core import Core
from cardan.batch.gpu.memory import GpuMemories
from cardan.batch.gpu.program import AT, GpuProgram
from cardan.constraint.equality import UNKNOWN_EQUALITY
from cardan.dynamics.actuation import ACTUATION_STALE
from cardan.enums.codes import WARN_BADQACC
from cardan.jit import COLLIDER_MISSING
from cardan.jit.driver.cuda import GpuMemoryError
from cardan.jit.front.stage import entry_of
from cardan.model import internals
from cardan.model.tables import CAPACITIES
from cardan.step.checks import reset_diverged
from cardan.step.diagnosis import first_trouble
from cardan.step.report import keep_message, pending_messages
from cardan.step.status import DIVERGED, WARNED

WORDS = {
    COLLIDER_MISSING: "found geoms of types that could not collide when the batch was made",
    UNKNOWN_EQUALITY: "found an equality constraint of a type, or of objects, that are not there",
    ACTUATION_STALE: "found actuators of types that were not there when the batch was made",
}
"""What happened to worlds that can't go on, by status."""


class Answers(Core):
    """The answers of a batch on a GPU."""

    _memories: GpuMemories  # type: ignore[assignment]

    @abstractmethod
    def _run_stages(self, stages: Sequence[Callable[..., Any]], worlds: np.ndarray) -> None:
        """Run stages once on worlds: the batch's part."""

    @abstractmethod
    def _run_reset(self, stage: Callable[..., Any], worlds: np.ndarray) -> None:
        """Run a stage that resets worlds, and what their plugins do then: the batch's part."""

    def _answer(self, program: GpuProgram, status: int, worlds: np.ndarray, rows: np.ndarray) -> None:
        """Answer worlds that stopped with a status, and have those go on that can (see `GpuProgram.run`)."""
        if 0 < status <= len(CAPACITIES):
            self._grow(program, CAPACITIES[status - 1], worlds, rows)
        elif status == WARNED:
            self._take_warnings(worlds)
            program.go_on(rows, worlds, after=False)
        elif status == DIVERGED:
            self._reset_diverged(worlds)
            program.go_on(rows, worlds, after=True)
        else:
            for i in worlds.tolist():
                stage = entry_of(program.stages[int(rows[AT, i])]).name
                what = WORDS.get(status, f"stopped with the status {status}")
                self._keep_error(i, RuntimeError(f"{stage} {what}"))

    def _grow(self, program: GpuProgram, capacity: str, worlds: np.ndarray, rows: np.ndarray) -> None:
        need = int(self._memories.view("work.need")[worlds].numpy().max())
        try:
            if need > self._memories.sizes[capacity]:
                self._memories.grow(capacity, need)
        except GpuMemoryError as error:
            for i in worlds.tolist():
                self._keep_error(i, error)
            return
        program.go_on(rows, worlds, after=False)

    def _take_warnings(self, worlds: np.ndarray) -> None:
        """Keep the new warnings of worlds, to be told after the call."""
        names = ("warning.number", "warning.lastinfo", "work.warned", "time")
        number, lastinfo, warned, time = (self._memories.view(name)[worlds].numpy() for name in names)
        messages = self.__dict__["_messages"]
        self.__dict__["_warned"] = True
        for k, i in enumerate(worlds.tolist()):
            d: Any = _Told(number[k], lastinfo[k], warned[k], time[k].item(), messages.pop(i, {}))
            for kind, text in pending_messages(d):
                self.__dict__["_news"][i, kind] = self.__dict__["_diagnoses"][i] = text
        self._memories.view("work.warned")[worlds] = warned

    def _reset_diverged(self, worlds: np.ndarray) -> None:
        """Find out what went bad, reset the worlds, and compute the forward dynamics of those that need it."""
        kinds = self._memories.view("work.bad_kind")[worlds].numpy()
        index = self._memories.view("work.bad_index")[worlds].numpy()
        number, warned = (self._memories.view(name)[worlds].numpy() for name in ("warning.number", "work.warned"))
        for k, (i, kind, at) in enumerate(zip(worlds.tolist(), kinds.tolist(), index.tolist(), strict=True)):
            if number[k, kind] and warned[k, kind]:  # it was told
                continue
            d = self._live(i)
            trouble = first_trouble(d.model, d, kind == WARN_BADQACC)
            keep_message(d, kind, at, f"{trouble}; cardan.last_good_state(d) has the state before")
            self.__dict__["_messages"].setdefault(i, {}).update(internals.kept(d)["messages"])
        self._run_reset(reset_diverged, worlds)
        again = worlds[kinds == WARN_BADQACC]
        if len(again):
            self._run_kinds(self._programs_of("mj_forward", again), again, 1)


class _Told(SimpleNamespace):
    """What `pending_messages` looks at in a data."""

    def __init__(
        self, number: np.ndarray, lastinfo: np.ndarray, warned: np.ndarray, time: float, messages: dict[int, str]
    ) -> None:
        memory = SimpleNamespace(arrays={"work.warned": warned})
        warning = SimpleNamespace(number=number, lastinfo=lastinfo)
        super().__init__(warning=warning, time=time, _memory=memory, _kept={"messages": messages})
