"""Object files in memory without LLVM: ELF files for x86-64 in which every address is a word of its own.

That is what LLVM makes of kernels (large code model): loading them is copying sections and putting addresses in. Other
files, and other systems, are left to `cardan.jit.driver.llvm`, whose import alone takes longer.

Sources: System V Application Binary Interface, chapter 4 (sections, symbols, relocation); its AMD64 supplement, section
4.4 (R_X86_64_64).
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mmap import mmap

HERE = sys.platform == "linux" and os.uname().machine == "x86_64"
"""Whether this machine runs such files."""

_HEAD = b"\x7fELF\x02\x01\x01"  # 64 bits, little endian, version 1
_RELOCATABLE, _X86_64 = 1, 62
_SECTION, _SYMBOL, _RELOCATION = "<IIQQQQIIQQ", "<IBBHQQ", "<QQq"
_PROGRAM, _SYMBOLS, _RELOCATIONS, _NOTE, _ZEROS, _SHORT_RELOCATIONS = 1, 2, 4, 7, 8, 9  # kinds of sections
_UNWINDING = 0x70000001
_UNNEEDED = (_NOTE, _UNWINDING)
"""Kinds of sections that would be in memory, too, and that nothing here reads: tables for exceptions, which are not."""
_WRITE, _ALLOCATE = 1, 2
_NOTYPE, _OBJECT, _FUNCTION, _OF_SECTION = range(4)  # kinds of symbols that have an address
_WHOLE_ADDRESS = 1
_READ_RUN = 1 | 4  # PROT_READ | PROT_EXEC

Symbols = dict[str, int]
"""Addresses of the symbols that a file defines for others."""


class ElfError(ValueError):
    """A file is not one that this module can load."""


class _File:
    """An object file: its sections, and where they come to lie."""

    def __init__(self, code: bytes) -> None:
        kind, machine = struct.unpack_from("<HH", code, 16)
        if not code.startswith(_HEAD) or (kind, machine) != (_RELOCATABLE, _X86_64):
            raise ElfError("no relocatable ELF file for x86-64")
        (first,) = struct.unpack_from("<Q", code, 40)
        size, count = struct.unpack_from("<HH", code, 58)
        if size != struct.calcsize(_SECTION) or len(code) < first + size * count:
            raise ElfError("the table of sections is not whole")
        self.code = code
        self.sections = list(struct.iter_unpack(_SECTION, code[first : first + size * count]))
        if any(kind != _ZEROS and offset + size > len(code) for _, kind, _, _, offset, size, *_ in self.sections):
            raise ElfError("a section is not whole")
        self.places: dict[int, int] = {}

    def place(self, written: bool, end: int) -> int:
        """Find places for the sections that are written to, or the others, behind `end`; returns the new end."""
        for number, (_, kind, flags, _, _, size, _, _, alignment, _) in enumerate(self.sections):
            if not flags & _ALLOCATE or kind in _UNNEEDED:
                continue
            if kind not in (_PROGRAM, _ZEROS):
                raise ElfError(f"section of kind {kind}")
            if bool(flags & _WRITE) == written:
                end += -end % max(alignment, 1)
                self.places[number] = end
                end += size
        return end

    def fill(self, memory: mmap, base: int) -> Symbols:
        """Copy the sections to their places and put addresses in; returns those of symbols.

        Args:
            memory: for all sections.
            base: its address.
        """
        for number, place in self.places.items():
            _, kind, _, _, offset, size, *_ = self.sections[number]
            if kind == _PROGRAM:
                memory[place : place + size] = self.code[offset : offset + size]
        defined: Symbols = {}
        for number, (_, kind, _, _, _, _, link, target, _, _) in enumerate(self.sections):
            if kind == _SYMBOLS:
                defined |= self._defined(base, link, number)
            elif kind == _RELOCATIONS and target in self.places:
                self._relocate(memory, base, number)
            elif kind == _SHORT_RELOCATIONS and target in self.places:
                raise ElfError("relocations without addends")
        return defined

    def _defined(self, base: int, strings: int, number: int) -> Symbols:
        """Addresses of the symbols in a table of symbols that the file defines for others."""
        symbols = [symbol for symbol in self._records(number, _SYMBOL) if symbol[1] >> 4 and symbol[3]]
        return {self._name(strings, symbol[0]): self._value(base, strings, symbol) for symbol in symbols}

    def _relocate(self, memory: mmap, base: int, number: int) -> None:
        """Put addresses into a section."""
        _, _, _, _, _, _, table, target, _, _ = self.sections[number]
        strings, place, size = self.sections[table][6], self.places[target], self.sections[target][5]
        symbols = list(self._records(table, _SYMBOL))
        known: dict[int, int] = {}
        for offset, what, addend in self._records(number, _RELOCATION):
            symbol = what >> 32
            if what & 0xFFFFFFFF != _WHOLE_ADDRESS:
                raise ElfError(f"relocation of kind {what & 0xFFFFFFFF}")
            if offset + 8 > size:
                raise ElfError("a relocation outside of its section")
            if symbol not in known:
                known[symbol] = self._value(base, strings, symbols[symbol])
            struct.pack_into("<Q", memory, place + offset, known[symbol] + addend)

    def _records(self, number: int, layout: str) -> Iterator[tuple[int, ...]]:
        """What a section lists."""
        _, _, _, _, offset, size, *_ = self.sections[number]
        return struct.iter_unpack(layout, self.code[offset : offset + size])

    def _name(self, strings: int, at: int) -> str:
        start = self.sections[strings][4] + at
        return self.code[start : self.code.index(b"\0", start)].decode() if at else ""

    def _value(self, base: int, strings: int, symbol: tuple[int, ...]) -> int:
        """Address of a symbol.

        Raises:
            ElfError: it has none here: it is in no section that was placed (a common or an absolute symbol, the name of
                the source), it is not a function or a variable, or nobody defines it.
        """
        at, what, _, section, value, _ = symbol
        name = self._name(strings, at)
        if section == 0:
            return outside(name) if name else 0
        if section not in self.places or what & 15 not in (_NOTYPE, _OBJECT, _FUNCTION, _OF_SECTION):
            raise ElfError(f"symbol {name or at} of kind {what & 15} in section {section:#x}")
        return base + self.places[section] + value


@cache
def outside(name: str) -> int:
    """Address of a function of the mathematical library, or of one that compilers call of their own accord.

    Raises:
        ElfError: there is no such function.
    """
    for library in (None, "libm.so.6"):
        try:
            return ctypes.cast(getattr(ctypes.CDLL(library), name), ctypes.c_void_p).value or 0
        except (AttributeError, OSError):
            continue
    raise ElfError(f"there is no function {name}")


def load(codes: Sequence[bytes]) -> tuple[mmap, list[Symbols]] | None:
    """Put object files into memory, all in one piece, which native code may read and run.

    Args:
        codes: the files.

    Returns:
        The memory, which the code is there with, and for each file the addresses of its symbols; None if there is
        something in a file that only LLVM knows, or the system doesn't want it.
    """
    if not HERE:
        return None
    try:
        return _load([_File(code) for code in codes])
    except (ElfError, struct.error, IndexError, ValueError, OSError):
        return None


def _load(files: Sequence[_File]) -> tuple[mmap, list[Symbols]]:
    import mmap as mapping

    end = 0
    for file in files:
        end = file.place(False, end)
    running = end + -end % mapping.PAGESIZE
    end = running
    for file in files:
        end = file.place(True, end)
    memory = mapping.mmap(-1, max(end, 1), mapping.MAP_PRIVATE | mapping.MAP_ANONYMOUS)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    symbols = list(map(_File.fill, files, repeat(memory), repeat(base)))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    if running and protect(ctypes.c_void_p(base), ctypes.c_size_t(running), _READ_RUN):
        raise OSError(ctypes.get_errno(), "mprotect")
    return memory, symbols
