"""Reads the symbols of object files, ELF and Mach-O, to check code that can't be run here.

Sources: System V ABI, chapter 4, object files (symbol table, string table); Apple, Mach-O file format reference
(``mach_header_64``, ``symtab_command``, ``nlist_64``).
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator

from cardan.jit.front.compile import BOTH_PRECISIONS
from cardan.jit.target.processor import Platform

ELF_MACHINES = {"x86_64": 62, "aarch64": 183}
MACH_MAGIC, MACH_ARM64 = 0xFEEDFACF, 0x0100000C
_SYMBOL_TABLE_SECTION = 2
_SYMTAB_COMMAND = 2
_GLOBAL_BIND = 1

# what code generators call of their own accord, by system; all of it is in the system's C library
OF_THE_SYSTEM = {
    "linux": frozenset(),
    "win32": frozenset(("__chkstk",)),  # touches the pages of large stack frames; ntdll has it
    "darwin": frozenset(("__sincos_stret", "memset_pattern16", "bzero", "__bzero")),
}


class ObjectError(ValueError):
    """An object file is not what it must be."""


Symbols = dict[str, bool]
"""Global symbols by name: whether they are defined."""


def elf_symbols(code: bytes, architecture: str) -> Symbols:
    """The global symbols of an ELF file of 64 bits.

    Raises:
        ObjectError: it is no such file for the architecture.
    """
    if code[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", code, 18)[0] != ELF_MACHINES[architecture]:
        raise ObjectError(f"no ELF file of 64 bits for {architecture}")
    (sections,) = struct.unpack_from("<Q", code, 40)
    size, count = struct.unpack_from("<HH", code, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", code, sections + size * k) for k in range(count)]
    found: Symbols = {}
    for _, kind, _, _, offset, length, link, _, _, entry in headers:
        if kind != _SYMBOL_TABLE_SECTION:
            continue
        strings = headers[link][4]
        for at in range(offset, offset + length, entry):
            name, info, _, section, _, _ = struct.unpack_from("<IBBHQQ", code, at)
            if info >> 4 >= _GLOBAL_BIND and name:
                found[_text(code, strings + name)] = section != 0
    return found


def mach_symbols(code: bytes) -> Symbols:
    """The global symbols of a Mach-O file for arm64, without the underscore that stands before each.

    Raises:
        ObjectError: it is no such file.
    """
    magic, machine, _, _, ncommands, _, _, _ = struct.unpack_from("<8I", code)
    if (magic, machine) != (MACH_MAGIC, MACH_ARM64):
        raise ObjectError("no Mach-O file for arm64")
    found: Symbols = {}
    at = 32
    for _ in range(ncommands):
        command, size = struct.unpack_from("<II", code, at)
        if command == _SYMTAB_COMMAND:
            table, number, strings, _ = struct.unpack_from("<4I", code, at + 8)
            found.update(_mach_table(code, table, number, strings))
        at += size
    return found


def _mach_table(code: bytes, table: int, number: int, strings: int) -> Iterator[tuple[str, bool]]:
    external, type_mask = 0x01, 0x0E
    for k in range(number):
        name, kind, _, _, _ = struct.unpack_from("<IBBHQ", code, table + 16 * k)
        if kind & external:
            yield _text(code, strings + name).removeprefix("_"), bool(kind & type_mask)


def _text(code: bytes, at: int) -> str:
    return code[at : code.index(b"\0", at)].decode()


def check_object(code: bytes, expected: Collection[str], platform: Platform) -> None:
    """Check that an object file is for a platform, defines what it must, and needs only the mathematical library.

    Args:
        code: the file.
        expected: the symbols that it must define; no others.
        platform: what it is for.

    Raises:
        ObjectError: it isn't so.
    """
    system, _, architecture = platform.name.partition("-")
    what = f"object of {min(expected)} for {platform.name}"
    try:
        symbols = mach_symbols(code) if system == "darwin" else elf_symbols(code, architecture)
    except (struct.error, IndexError, ValueError) as error:
        raise ObjectError(f"{what}: {error}") from error
    defined = {name for name, is_defined in symbols.items() if is_defined}
    if defined != set(expected):
        raise ObjectError(f"{what}: it defines {sorted(defined)}")
    foreign = symbols.keys() - defined - BOTH_PRECISIONS - OF_THE_SYSTEM[system]
    if foreign:
        raise ObjectError(f"{what}: it needs {sorted(foreign)}, which the mathematical library lacks")
