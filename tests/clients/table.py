"""Runs the programs on both engines and writes ``docs/clients.md``: ``python -m clients.table [WORDS]``.

With words it runs the programs whose names hold one of them, and writes nothing.
"""

from __future__ import annotations

import platform
import sys

from clients.comparison import ALLOWED, MOVES, ROOT, Pairs, ProgramFails, Row, installed
from clients.own_tests import PARTS, outcome
from clients.programs import PROGRAMS

STEPS = 20
PAGE = ROOT / "docs" / "clients.md"

HEAD = """| program | reset | single steps | stops | ties | open loop | time | reference |
| --- | --- | --- | --- | --- | --- | --- | --- |"""

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

What *draws* needs OpenGL with the reference, and is not compared. The same comparisons with fewer steps are tests,
`tests/clients`, which run where the packages are installed.
"""


def _line(row: Row) -> str:
    """A row of the table."""
    numbers = (
        f"{row.first:.0e}",
        f"{row.single:.0e}",
        str(row.stops or ""),
        str(row.ties or ""),
        f"{row.open_loop:.0e}",
    )
    wrong = "" if row.right else f" **{row.beyond} of {row.steps} steps differ**"
    name = row.program.partition(" ")[2]
    return f"| {name}{wrong} | {' | '.join(numbers)} | {row.time:.2f} | {row.microseconds:.0f} |"


def _line_of_failure(name: str, error: ProgramFails) -> str:
    """The row of a program that did not run."""
    why = "draws" if error.needs_opengl() else f"**fails**: {str(error).strip().splitlines()[-1]}"
    return f"| {name.partition(' ')[2]} {why} |" + " |" * 7


def _programs(words: list[str]) -> tuple[list[str], bool]:
    """The tables, a package after the other, and whether all agree."""
    chosen = [program for program in PROGRAMS.values() if any(word in program.name for word in words)]
    lines, right, pairs = [], True, Pairs()
    for package in dict.fromkeys(program.package for program in chosen):
        lines += [f"\n## {package} {installed(package)}\n", *HEAD.split("\n")]
        print("\n".join(lines[-3:]))
        for program in (program for program in chosen if program.package == package):
            try:
                row = pairs.of(package).compare(program.name, STEPS, timed=True)
                lines.append(_line(row))
                right &= row.right
            except ProgramFails as error:
                lines.append(
                    f"| {program.name.partition(' ')[2]} **fails**: {str(error).strip().splitlines()[-1]} |" + " |" * 7
                )
                right = False
            print(lines[-1], flush=True)
    pairs.close()
    return lines, right


def _own_tests() -> tuple[list[str], bool]:
    """The table of the packages' own tests, and whether none fails on Cardan only."""
    lines = [
        "\n## dm_control's own tests\n",
        "Without OpenGL (`MUJOCO_GL=disable`), where tests that draw fail on both.\n",
    ]
    lines += ["| part | tests | fail on both | fail on Cardan only |", "| --- | --- | --- | --- |"]
    right = True
    for part, place in PARTS.items():
        result = outcome(part)
        right &= not result.new
        new = ", ".join(f"`{name}`" for name in sorted(result.new)) or "0"
        lines.append(f"| `{place}` | {result.count} | {len(result.failed)} | {new} |")
        print(lines[-1], flush=True)
    return lines, right


def main() -> None:
    """Run all programs, or those that the command line names."""
    lines, right = _programs(sys.argv[1:] or [""])
    if not sys.argv[1:]:
        tests, passed = _own_tests()
        versions = f"\nPython {platform.python_version()}, NumPy {installed('numpy')}, one thread.\n"
        PAGE.write_text("\n".join([TEXT + versions, *lines, *tests]).replace("\n\n\n", "\n\n") + "\n")
        right &= passed
    sys.exit(0 if right else "some programs differ: see above")


if __name__ == "__main__":
    main()
