"""Runs the programs on both engines and writes ``docs/clients.md``: ``python -m clients.table [WORDS]``.

With words it runs the programs whose names hold one of them, and the own tests of the parts that they name; the page
has the results of earlier runs for the others, and stays as it is while some are missing.
"""

from __future__ import annotations

import json
import platform
import sys
from statistics import median
from typing import Any

from clients.comparison import ALLOWED, MOVES, ROOT, Pairs, ProgramFails, Row, installed
from clients.own_tests import PARTS, outcome
from clients.programs import PROGRAMS

STEPS = 20
PAGE = ROOT / "docs" / "clients.md"
KEPT = ROOT / "build" / "clients.json"
"""Results of the last run."""

HEAD = """| program | reset | single steps | stops | ties | open loop | time | reference |
| --- | --- | --- | --- | --- | --- | --- | --- |"""

OWN = """
## dm_control's own tests

Without OpenGL (`MUJOCO_GL=disable`), where tests that draw fail on both.

| part | tests | fail on both | fail on Cardan only |
| --- | --- | --- | --- |"""

TEXT = f"""# Programs of other packages

`make clients` installs the packages of `tests/clients/requirements.txt` in an environment of their own, runs their
programs with mujoco 3.1.6 and, through `python -m cardan.as_mujoco`, with Cardan, and writes this page. Nothing of the
programs is changed.

Two processes, one an engine, get the same seeds and actions. The columns, for observations, rewards and the state
together, as the largest difference of a number (relative where it is above 1):

- *reset*: of the first observation and state;
- *single steps*: after one step of the program, which is mostly 5 to 40 steps of the engine, from each of {STEPS}
  states along the reference's episode;
- *stops*: steps that differ by more than {ALLOWED:.0e}, but no longer once the model's solver tolerance is 0: one
  solver stopped an iteration earlier than the other, as the tolerance lets it;
- *ties*: steps that still differ by more, but by less than the reference does from itself when its state is moved by
  1e-10 ({MOVES} random moves): contacts that flip with rounding. The largest difference is over all other steps;
- *open loop*: after {STEPS} steps that nothing corrects;
- *time*: processor time of a step, Cardan's by the reference's: 10 to 100 steps from the same state on each in turn,
  the median of {STEPS} such pairs;
- *reference*: processor time of the reference's step, in microseconds.

dm_control 1.0.20 needs NumPy 1, with either engine: its `mujoco/index.py` asks for `np.array(..., copy=False)`
where NumPy 2 must copy, and raises. What *draws* needs OpenGL with the reference, and is not compared.

The same comparisons with fewer steps are tests, `tests/clients`, which run where the packages are installed. Parts of
the tables can be made again (`python -m clients.table WORDS`): lines may be of different runs.
"""


Kept = dict[str, Any]
"""Results by program and by part of the own tests: rows, texts of failures, and lists."""


def _line(name: str, kept: Kept) -> str:
    """A line of the table of programs."""
    result, short = kept[name], name.partition(" ")[2]
    if isinstance(result, str):
        return f"| {short} | {result} |" + " |" * 6
    row = Row(*result)
    counts = (str(row.stops or ""), str(row.ties or ""))
    numbers = (f"{row.first:.0e}", f"{row.single:.0e}", *counts, f"{row.open_loop:.0e}")
    wrong = "" if row.right else f" **{row.beyond} of {row.steps} steps differ**"
    return f"| {short}{wrong} | {' | '.join(numbers)} | {row.time:.2f} | {row.microseconds:.0f} |"


def _line_of_part(part: str, kept: Kept) -> str:
    """A line of the table of own tests."""
    count, failed, new = kept[part]
    names = ", ".join(f"`{name}`" for name in new) or "0"
    return f"| `{PARTS[part]}` | {count} | {failed} | {names} |"


def _run_programs(names: list[str], kept: Kept) -> bool:
    """Compare programs; whether all agree."""
    right, pairs = True, Pairs()
    for name in names:
        try:
            row = pairs.of(PROGRAMS[name].package).compare(name, STEPS, timed=True)
            kept[name] = list(row)
            right &= row.right
        except ProgramFails as error:
            kept[name] = "draws" if error.needs_opengl() else f"**fails**: {str(error).strip().splitlines()[-1]}"
            right &= error.needs_opengl()
        _keep(f"{PROGRAMS[name].package} {_line(name, kept)}", kept)
    pairs.close()
    return right


def _run_own_tests(parts: list[str], kept: Kept) -> bool:
    """Run the packages' own tests; whether none fails on Cardan only."""
    right = True
    for part in parts:
        result = outcome(part)
        kept[part] = [result.count, len(result.failed), sorted(result.new)]
        right &= not result.new
        _keep(_line_of_part(part, kept), kept)
    return right


def _keep(line: str, kept: Kept) -> None:
    """Print a line, and keep all results in the folder for builds."""
    print(line, flush=True)
    KEPT.parent.mkdir(exist_ok=True)
    KEPT.write_text(json.dumps(kept, indent=1))


def _summary(kept: Kept) -> str:
    """What all programs together show."""
    rows = [Row(*kept[name]) for name in PROGRAMS if isinstance(kept.get(name), list)]
    others = sum(isinstance(kept.get(name), str) for name in PROGRAMS)
    times = [row.time for row in rows]
    return (
        f"\nOf {len(rows)} programs {sum(row.right for row in rows)} agree, {others} draw or fail. Time: median "
        f"{median(times):.2f}, {min(times):.2f} to {max(times):.2f}, above 1.0 in {sum(time > 1.0 for time in times)}."
    )


def page(kept: Kept) -> str:
    """The page, made of the results of programs and parts."""
    text = [TEXT, f"Python {platform.python_version()}, NumPy {installed('numpy')}, one thread.", _summary(kept)]
    for package in dict.fromkeys(program.package for program in PROGRAMS.values()):
        names = [name for name, program in PROGRAMS.items() if program.package == package and name in kept]
        text += [f"\n## {package} {installed(package)}\n", HEAD, *(_line(name, kept) for name in names)]
    return "\n".join([*text, OWN, *(_line_of_part(part, kept) for part in PARTS if part in kept), ""])


def main() -> None:
    """Run all programs and own tests, or those that the command line names, and write the page."""
    words = sys.argv[1:]
    kept = json.loads(KEPT.read_text()) if words and KEPT.exists() else {}
    parts = [part for part in PARTS if not words or part in words]
    words = [word for word in words if word not in PARTS] or ([] if words else [""])
    right = _run_programs([name for name in PROGRAMS if any(word in name for word in words)], kept)
    right &= _run_own_tests(parts, kept)
    if all(name in kept for name in (*PROGRAMS, *PARTS)):
        PAGE.write_text(page(kept))
    sys.exit(0 if right else "some programs differ: see above")


if __name__ == "__main__":
    main()
