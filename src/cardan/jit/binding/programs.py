"""The programs that a model keeps, for all threads that use it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cardan.jit.binding.objects import FIRST_PROGRAM, PROGRAM_WORDS
from cardan.threads import Locked


class ProgramTable(Locked):
    """Programs and what goes with them, by key; some are ready for native code, in the words behind a model's address.

    Keys are pairs: what it is, and the version of the callbacks that it was made for. Look-ups need no lock. Everything
    else holds `lock`, also while a program is made, so that no thread makes it twice, or for settings of before.

    Args:
        words: the words in the slot of the model.

    Attributes:
        earlier: programs by the settings that they were made for, too, for whoever sets an option and sets it back; to
            be used with the lock.
    """

    def __init__(self, words: np.ndarray) -> None:
        super().__init__()
        self.words = words
        self.earlier: dict[Any, Any] = {}
        self._kept: dict[Any, Any] = {}
        self._ready: dict[int, Any] = {}  # programs that native code finds by their addresses
        self._changes = 0

    def get(self, what: Any, version: int) -> Any:
        """What is kept under a key, or None."""
        return self._kept.get((what, version))

    def of(self, what: Any, version: int, make: Callable[[], Any]) -> Any:
        """What is kept under a key; made now if there is nothing. What was made for other versions is forgotten."""
        found = self._kept.get((what, version))
        if found is not None:
            return found
        with self.lock:
            found = self._kept.get((what, version))
            if found is None:
                changes = self._changes
                self._forget_versions_but(version)
                found = make()
                if changes == self._changes:  # else a signal handler has set an option meanwhile
                    self._kept[what, version] = found
        return found

    def _forget_versions_but(self, version: int) -> None:
        for programs in (self._kept, self.earlier):
            for key in [key for key in programs if key[1] != version]:
                del programs[key]

    def clear(self) -> None:
        """Forget all programs."""
        with self.lock:
            self.earlier.clear()
            self.leave()

    def leave(self) -> None:
        """Other settings hold now: none of the programs is in use, and `earlier` still knows them."""
        with self.lock:
            self._changes += 1
            self.words[FIRST_PROGRAM:] = 0
            self._kept.clear()
            self._ready.clear()

    def make_ready(self, index: int, what: Any, version: int, program: Any) -> None:
        """Let native code find a program, as long as the callbacks have this version, if it is still the one in use."""
        with self.lock:
            if self.get(what, version) is program:
                start = FIRST_PROGRAM + PROGRAM_WORDS * index
                before = self._ready.get(index)
                self._ready[index] = program
                self.words[start : start + PROGRAM_WORDS] = program.block_address, version, id(program)
                del before

    def is_ready(self, index: int, program: Any) -> bool:
        """Whether native code finds this program."""
        return self._ready.get(index) is program

    def __len__(self) -> int:
        return len(self._kept)

    def items(self) -> Iterator[tuple[Any, Any]]:
        """What is kept now, by key."""
        return iter(list(self._kept.items()))
