"""Object files become native code in memory."""

from __future__ import annotations

import ctypes

import pytest

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


@pytest.fixture(scope="module")
def code() -> bytes:
    return assemble(SOURCE)


def power(address: int) -> list[float]:
    function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)
    return [function(x) for x in (0.0, 0.5, 1.7)]


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
    """Two of them define the same symbols, as two functions of a user that have the same name."""
    addresses = load_objects([("power", code), ("count", code), ("power", code)])
    assert len(set(addresses)) == 3
    assert power(addresses[0]) == power(addresses[2]) == power(load_object("power", code))


def test_common_symbols() -> None:
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
