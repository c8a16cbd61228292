"""What goes wrong in some worlds of a batch."""

from __future__ import annotations


class SimulationError(RuntimeError):
    """Some worlds failed; the others ran to the end, and the failed ones keep the state they had.

    Attributes:
        ids: the worlds that failed.
    """

    def __init__(self, message: str, ids: list[int]) -> None:
        super().__init__(message)
        self.ids = ids

    def __reduce__(self) -> tuple[type[SimulationError], tuple[str, list[int]]]:
        return type(self), (str(self), self.ids)
