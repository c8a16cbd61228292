"""Object files loaded without LLVM do what they do when LLVM loads them; others are left to it."""

from __future__ import annotations

import ctypes
import struct
import subprocess
import sys

import pytest

from cardan.jit.driver import elf
from cardan.jit.driver.llvm import Engine
from cardan.jit.driver.loader import load_object, load_objects, load_symbols
from cardan.jit.target.processor import assemble

SOURCE = """
@table = global [4 x i64] zeroinitializer
@kept = global double 2.5
declare double @pow(double, double)
declare double @tan(double)

define double @power(double %x) {
  %k = load double, double* @kept
  %p = call double @pow(double %x, double %k)
  %t = call double @tan(double %p)
  %s = fadd double %t, 0.3
  ret double %s
}

define i64 @count() {
  %at = getelementptr [4 x i64], [4 x i64]* @table, i64 0, i64 2
  %old = load i64, i64* %at
  %new = add i64 %old, 1
  store i64 %new, i64* %at
  ret i64 %new
}
"""
needs_elf = pytest.mark.skipif(not elf.HERE, reason="other systems load object files with LLVM")


@pytest.fixture(scope="module")
def code() -> bytes:
    return assemble(SOURCE)


def power(address: int) -> list[float]:
    function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)
    return [function(x) for x in (0.0, 0.5, 1.7)]


@needs_elf
def test_results_are_those_of_llvm(code: bytes) -> None:
    engine = Engine()
    engine.add(code)
    loaded = elf.load([code])
    assert loaded is not None
    _, (symbols,) = loaded
    assert symbols.keys() == {"power", "count", "table", "kept"}
    assert power(symbols["power"]) == power(engine.address("power"))


def test_data_can_be_written_and_belong_to_one_copy(code: bytes) -> None:
    first, second = load_symbols(code, "count", "table"), load_symbols(code, "count", "table")
    for _, (count, table) in (first, second):
        function = ctypes.CFUNCTYPE(ctypes.c_int64)(count)
        assert [function(), function()] == [1, 2]
        words = (ctypes.c_int64 * 4).from_address(table)
        assert list(words) == [0, 0, 2, 0]
        words[2] = 40
        assert function() == 41


def test_several_files_at_once(code: bytes) -> None:
    addresses = load_objects([("power", code), ("count", code), ("power", code)])
    assert len(set(addresses)) == 3
    assert power(addresses[0]) == power(addresses[2]) == power(load_object("power", code))


@needs_elf
def test_files_that_are_not_as_they_must_be_are_left_to_llvm(code: bytes) -> None:
    assert elf.load([code]) is not None
    sections = struct.unpack_from("<Q", code, 40)[0]
    for damaged in (b"", b"\x7fELF", code[:40], code[:sections], code[: sections + 100], b"\0" + code[1:]):
        assert elf.load([damaged]) is None
    other_machine = code[:18] + struct.pack("<H", 183) + code[20:]
    assert elf.load([code, other_machine]) is None


@needs_elf
def test_other_relocations_and_functions_are_left_to_llvm(code: bytes) -> None:
    unknown = assemble(SOURCE.replace("@tan", "@no_such_function_anywhere"))
    assert elf.load([unknown]) is None
    whole = struct.pack("<Q", 1)  # the kind, in the lower half of a relocation's second word
    name = code.index(b".rela")
    places = [k for k in range(0, name, 8) if code[k : k + 4] == whole[:4] and 0 < code[k + 4] < 16]
    assert places
    changed = bytearray(code)
    for k in places:
        changed[k : k + 4] = struct.pack("<I", 2)
    assert elf.load([bytes(changed)]) is None


def symbol_at(code: bytes, name: str) -> int:
    """Offset of the record of a symbol: name (4 bytes), kind, visibility, section (2 bytes), value, size."""
    first = struct.unpack_from("<Q", code, 40)[0]
    count = struct.unpack_from("<H", code, 60)[0]
    sections = [struct.unpack_from("<IIQQQQIIQQ", code, first + 64 * k) for k in range(count)]
    for _, kind, _, _, offset, size, strings, *_ in sections:
        for at in range(offset, offset + size, 24) if kind == 2 else ():
            start = sections[strings][4] + struct.unpack_from("<I", code, at)[0]
            if code[start : code.index(b"\0", start)].decode() == name:
                return at
    raise KeyError(name)


def changed(code: bytes, at: int, layout: str, *values: int) -> bytes:
    return code[:at] + struct.pack(layout, *values) + code[at + struct.calcsize(layout) :]


ABSOLUTE, COMMON, MORE = 0xFFF1, 0xFFF2, 0xFFFF
THREAD_LOCAL, CHOSEN_AT_RUN_TIME = 6, 10


@needs_elf
@pytest.mark.parametrize("section", [ABSOLUTE, COMMON, MORE, 200])
@pytest.mark.parametrize("binding", [0, 1])
def test_symbols_without_a_place_are_left_to_llvm(code: bytes, section: int, binding: int) -> None:
    at = symbol_at(code, "kept")
    assert elf.load([changed(code, at + 4, "<B", 16 + code[at + 4] % 16)]) is not None
    assert elf.load([changed(code, at + 4, "<BBH", 16 * binding + code[at + 4] % 16, 0, section)]) is None


@needs_elf
@pytest.mark.parametrize("kind", [THREAD_LOCAL, CHOSEN_AT_RUN_TIME])
def test_symbols_of_other_kinds_are_left_to_llvm(code: bytes, kind: int) -> None:
    assert elf.load([changed(code, symbol_at(code, "kept") + 4, "<B", 16 + kind)]) is None


@needs_elf
def test_sections_of_other_kinds_are_left_to_llvm(code: bytes) -> None:
    """A list of functions that are to run when the file is loaded."""
    first = struct.unpack_from("<Q", code, 40)[0]
    section = struct.unpack_from("<H", code, symbol_at(code, "kept") + 6)[0]
    assert elf.load([changed(code, first + 64 * section + 4, "<I", 14)]) is None


@needs_elf
def test_relocations_outside_of_their_section_are_left_to_llvm(code: bytes) -> None:
    first, count = struct.unpack_from("<Q", code, 40)[0], struct.unpack_from("<H", code, 60)[0]
    sections = [struct.unpack_from("<IIQQQQIIQQ", code, first + 64 * k) for k in range(count)]
    tables = [(s[4], sections[s[7]]) for s in sections if s[1] == 4 and sections[s[7]][1] == 1]
    for offset, target in tables:
        assert elf.load([changed(code, offset, "<Q", target[5] - 4)]) is None


def test_common_symbols() -> None:
    """LLVM loads what our own loader can't place."""
    common = """
    @counter = common global i64 0
    define i64 @count() {
      %old = load i64, i64* @counter
      %new = add i64 %old, 1
      store i64 %new, i64* @counter
      ret i64 %new
    }
    """
    address = load_object("count", assemble(common))
    count = ctypes.CFUNCTYPE(ctypes.c_int64)(address)
    assert [count(), count()] == [1, 2]


@needs_elf
def test_a_step_from_packaged_kernels_needs_no_llvm() -> None:
    """That of what the loader and the choice of a level import; `tests/packages` runs steps."""
    program = (
        "import sys; import cardan.jit.cache.packaged, cardan.jit.driver.loader, cardan.jit.driver.program; "
        "from cardan.jit.target.platforms import runs; runs('x86-64-v3'); "
        "sys.exit('llvmlite.binding' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_features_are_those_that_llvm_sees() -> None:
    import llvmlite.binding as llvm

    from cardan.jit.target.platforms import NEEDS, runs

    features = llvm.get_host_cpu_features()
    for level, needed in NEEDS.items():
        assert runs(level) == all(features.get(feature, False) for feature in needed)
