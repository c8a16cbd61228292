"""Other processes that compile stages: who starts them, what they are told, and that they end."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from cardan.collision.plane import plane_sphere
from cardan.compiler.bvh import find_body_trees
from cardan.compiler.names import find_places
from cardan.jit import jit_enabled, stage
from cardan.jit.cache import gpu_code, helper, store
from cardan.jit.cache.fingerprint import fingerprint
from cardan.jit.cache.helper import compile_if_free
from cardan.jit.cache.store import STAMP
from cardan.jit.driver import program
from cardan.jit.front.stage import HERE, INTERLEAVED, SINGLE, Form, entry_of
from cardan.jit.target.ptx import KERNEL, PtxError, find_libdevice
from cardan.model.reset import start_data
from cardan.step.checks import check_acc, check_pos, clear_energy
from cardan.step.report import report_warnings

needs_numba = pytest.mark.skipif(not jit_enabled, reason="about native code")
ON_LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")
SMALL = (find_places, check_acc, check_pos, report_warnings)
PATIENCE = 60.0


def of_the_user(m, d):
    return 0


def waits_for(condition):
    """Whether a condition comes true in time."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def processes_with(folder):
    """Helpers that work for a folder."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            theirs = process.name.isdigit() and str(folder).encode() in (process / "environ").read_bytes()
            if theirs and b"cache.helper" in (process / "cmdline").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


class FakeHelper:
    """A helper that only remembers."""

    def __init__(self, folder):
        self.folder = folder
        self.heard = []
        self.is_there = True
        self.ended = self.forgotten = False

    def tell(self, tasks):
        self.heard += tasks
        return self.is_there

    def end(self):
        self.ended = True

    def forget(self):
        self.forgotten = True


@pytest.fixture
def crew(monkeypatch, tmp_path):
    """A crew of fake helpers on a machine with two processors, and an empty cache."""
    monkeypatch.setenv("CARDAN_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("CARDAN_PACKAGED", "0")
    monkeypatch.setattr(helper, "Helper", FakeHelper)
    on_processors(monkeypatch, 2)
    crew = helper.Crew()
    monkeypatch.setattr(helper, "_crew", crew)
    return crew


def on_processors(monkeypatch, count, load=0.0):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(count)), raising=False)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, load, load), raising=False)


def entries(*functions):
    return [entry_of(function) for function in functions]


@pytest.mark.parametrize(("processors", "load", "expected"), [(1, 0.0, 0), (2, 9.0, 1), (4, 0.2, 3), (64, 0.0, 7)])
def test_more_helpers_where_processors_are_free(monkeypatch, processors, load, expected):
    on_processors(monkeypatch, processors, load)
    monkeypatch.setattr(helper, "granted_processors", lambda: 1000)
    assert helper.helper_count(40) == expected
    assert helper.helper_count(helper.WORTH_IT - 1) == 0


def test_no_helpers_where_there_is_one_processor_or_no_interpreter(monkeypatch, tmp_path):
    on_processors(monkeypatch, 8)
    limit = tmp_path / "cpu.max"
    counts = []
    for text in ("100000 100000", "50000 100000", "250000 100000", "max 100000"):
        limit.write_text(text)
        counts.append(helper.granted_processors(limit))
    assert counts == [1, 1, 2, sys.maxsize]
    assert helper.granted_processors(tmp_path / "none") == sys.maxsize
    monkeypatch.setattr(helper, "granted_processors", lambda: 1)
    assert helper.helper_count(40) == 0
    monkeypatch.setattr(helper, "granted_processors", lambda: 4)
    assert helper.helper_count(40) == 3
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert helper.helper_count(40) == 0


def test_the_first_cold_stage_starts_a_helper_that_hears_what_is_expected(crew):
    helper.help_with(entries(find_body_trees))
    assert not crew.is_at_work  # one stage is not worth it
    helper.expect(lambda: pytest.fail("nobody is there to hear"))
    with helper.expecting(lambda: SMALL):
        helper.help_with(entries(find_body_trees))
    assert crew.expected == []
    (first,) = crew._helpers
    assert first.folder == store.cache_folder().absolute()
    assert first.heard[0] == "world float64 cardan.compiler.bvh:find_body_trees"
    assert len(first.heard) == 1 + len(SMALL)
    helper.expect(lambda: (start_data, *SMALL))
    helper.help_with(entries(start_data))
    assert first.heard[1 + len(SMALL) :] == ["world float64 cardan.model.reset:start_data"]


def test_what_is_in_the_cache_is_not_expected(crew):
    for function in SMALL:
        entry = entry_of(function)
        store.write(entry.name, fingerprint(entry), entry.symbol, b"")
    with helper.expecting(lambda: SMALL):
        helper.help_with(entries(find_body_trees))
    assert not crew.is_at_work


def test_helpers_that_are_gone_are_replaced_when_that_is_worth_it(crew):
    helper.help_with(entries(*SMALL))
    (first,) = crew._helpers
    first.is_there = False
    helper.help_with(entries(find_body_trees))
    assert not crew.is_at_work
    helper.help_with(entries(*SMALL))
    (second,) = crew._helpers
    assert second is not first
    assert len(second.heard) == len(SMALL)


def test_another_cache_folder_takes_another_helper(crew, monkeypatch, tmp_path):
    helper.help_with(entries(*SMALL))
    (first,) = crew._helpers
    monkeypatch.setenv("CARDAN_CACHE_DIR", str(tmp_path / "other"))
    helper.help_with(entries(*SMALL))
    assert first.ended
    (second,) = crew._helpers
    assert second.folder == tmp_path / "other"
    crew.end()
    assert second.ended
    assert not crew.is_at_work


def test_users_functions_are_left_to_their_process(crew):
    helper.help_with(entries(*[stage(of_the_user)] * 8))
    assert not crew.is_at_work


def test_a_process_that_was_forked_has_no_helpers(crew):
    helper.help_with(entries(*SMALL))
    (first,) = crew._helpers
    with crew._lock:  # of a thread that is not there in the new process
        crew.forget()
    assert first.forgotten
    assert not first.ended
    assert not crew.is_at_work
    crew.end()


def test_a_helper_that_cannot_start_costs_nothing(crew, monkeypatch):
    def fail(folder):
        raise OSError("no more processes")

    monkeypatch.setattr(helper, "Helper", fail)
    helper.help_with(entries(*SMALL))
    assert not crew.is_at_work


def test_the_largest_stage_comes_first():
    tasks = helper.Tasks()
    small = entries(report_warnings, find_places, check_acc)
    tasks.read(io.BytesIO("".join(helper._line([entry], HERE) + "\n" for entry in small).encode()))
    first = [tasks.take(), tasks.take()]
    tasks.read(io.BytesIO((helper._line([entry_of(find_body_trees)], HERE) + "\n").encode()))
    order = [task and task.make.args[0].function for task in (*first, tasks.take(), tasks.take())]
    assert order == [find_places, check_acc, find_body_trees, report_warnings]


def test_launches_on_a_gpu_are_told_with_what_they_call(crew):
    form = Form(INTERLEAVED, SINGLE)
    helper.help_with_launches([[stage] for stage in SMALL], form, [plane_sphere])
    (first,) = crew._helpers
    assert first.heard[1] == ("interleaved float32 cardan.step.checks:check_acc cardan.collision.plane:plane_sphere")
    helper.help_with_launches([SMALL[:2], [stage(of_the_user)]], form, [])
    assert first.heard[len(SMALL) :] == [
        "interleaved float32 cardan.compiler.names:find_places,cardan.step.checks:check_acc -"
    ]
    helper.help_with_launches([[start_data]], form, [stage(of_the_user)])
    assert len(first.heard) == len(SMALL) + 1


@needs_numba
def test_a_helper_makes_ptx(tmp_path, monkeypatch):
    try:
        find_libdevice()
    except PtxError:
        pytest.skip("libdevice is not installed (wheel nvidia-nvvm)")
    monkeypatch.setenv("CARDAN_CACHE_DIR", str(tmp_path))
    form = Form(INTERLEAVED, SINGLE)
    helper._task("interleaved float32 cardan.step.checks:clear_energy -").make()
    assert gpu_code.is_cached([clear_energy], form, [])
    assert not gpu_code.is_cached([clear_energy], Form(INTERLEAVED), [])
    monkeypatch.setattr(gpu_code, "ptx", None)  # it is not called again
    assert f".entry {KERNEL}(" in gpu_code.gpu_source([clear_energy], form, [])


def test_a_helper_without_work_ends(monkeypatch):
    monkeypatch.setattr(helper, "PATIENCE", 0.01)
    assert helper.Tasks().take() is None


def test_a_stage_that_another_process_compiles_is_left_to_it(tmp_path, monkeypatch):
    monkeypatch.setenv("CARDAN_CACHE_DIR", str(tmp_path))
    entry = entry_of(check_acc)
    with store.compile_lock(entry.name, fingerprint(entry)) as free:
        assert free
        assert compile_if_free(entry) is None


@needs_numba
def test_the_running_process_passes_by_what_others_compile(monkeypatch):
    """It compiles all else first, then it waits."""
    done = []

    def elsewhere(entry, form):
        done.append(("free", entry.function))
        return None if entry.function is check_acc else ("", b"")

    def waits(entry, form):
        done.append(("waited", entry.function))
        return "", b""

    monkeypatch.setattr("cardan.jit.cache.helper.help_with", lambda *args: None)
    monkeypatch.setattr("cardan.jit.cache.helper.compile_if_free", elsewhere)
    monkeypatch.setattr("cardan.jit.cache.helper.compile_into_cache", waits)
    monkeypatch.setattr("cardan.jit.driver.loader.load_object", lambda symbol, code: 1)
    monkeypatch.setattr(program, "_ADDRESSES", {HERE: {}})
    program._compile_cold(entries(check_acc, check_pos), HERE)
    assert done == [("free", check_acc), ("free", check_pos), ("waited", check_acc)]


@contextmanager
def a_helper(folder):
    one = helper.Helper(folder)
    try:
        yield one
    finally:
        one.end()


@needs_numba
@ON_LINUX
def test_a_helper_compiles_into_the_cache_and_ends_with_its_input(tmp_path, monkeypatch):
    monkeypatch.setenv("CARDAN_CACHE_DIR", str(tmp_path))
    entry = entry_of(check_acc)
    with a_helper(tmp_path) as one:
        assert one._process.returncode == 0  # the helper is nobody's child
        assert one.tell([helper._line([entry], HERE)])
        assert waits_for(lambda: store.holds(entry.name, fingerprint(entry)))
        assert processes_with(tmp_path)
        symbol, code = store.read(entry.name, fingerprint(entry)) or ("", b"")
        assert symbol == entry.symbol
        assert symbol.encode() in code
    assert waits_for(lambda: not processes_with(tmp_path))
    assert {file.suffix for file in tmp_path.iterdir() if file.name != STAMP} <= {".o", ".lock"}


@ON_LINUX
def test_a_helper_ends_with_a_process_that_is_killed_even_if_that_has_forked(tmp_path):
    script = f"""
import os, time
from pathlib import Path
from cardan.jit.cache import helper
one = helper.Helper(Path({str(tmp_path)!r}))
one.tell(["world float64 cardan.solver.newton:solve_small"])
helper._crew._helpers.append(one)
if os.fork():
    print("ready", flush=True)
time.sleep(600)
"""
    command = [sys.executable, "-c", script]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"ready\n"
        assert waits_for(lambda: processes_with(tmp_path))
        process.kill()
        process.wait()
        assert waits_for(lambda: not processes_with(tmp_path))
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()
    assert not list(tmp_path.glob("*.o"))


@ON_LINUX
def test_a_helper_that_died_is_noticed(tmp_path):
    with a_helper(tmp_path) as one:
        assert waits_for(lambda: processes_with(tmp_path))
        for number in processes_with(tmp_path):
            os.kill(int(number), signal.SIGKILL)
        assert waits_for(lambda: not one.tell(["world float64 cardan.step.checks:check_acc"]))
