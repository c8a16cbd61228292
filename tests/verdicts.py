"""Whether this compiler and the reference accept the same models, one attribute of a valid one changed at a time."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import cardan
from cardan.errors import MjcfError
from cardan.spec.schema.language import SCHEMA
from cardan.spec.schema.rows import ElementRow

VALUES = (
    "junk",
    "-1",
    "0",
    "2",
    "",
    "1 2 3 4 5 6 7 8 9 10 11 12 13",
    "0 0 0",
    "1 1",
    "true",
    "1.5",
    "-1 -2 -3",
    "g1",
    "1 0 0 0",
)
FULL = os.environ.get("CARDAN_FULL_TESTS") == "1"
SECONDS = 20
CRASH = "crash"

SERVER = """
import json, os, sys
import mujoco
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
for line in sys.stdin:
    kind, source = json.loads(line)
    try:
        if kind == "text":
            mujoco.MjModel.from_xml_string(source)
        else:
            model = mujoco.MjModel.from_xml_path(source)
            mujoco.mj_forward(model, mujoco.MjData(model))
        answer = None
    except (ValueError, mujoco.FatalError) as error:
        answer = str(error)
    print(json.dumps(answer), file=answers, flush=True)
"""


class Reference:
    """The reference in a process of its own: some models make it crash or hang."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def refusal(self, xml: str) -> str | None:
        """Why it refuses the model, None if it accepts it, `CRASH` if it has no answer."""
        return self._answer("text", xml, SECONDS)

    def refusal_of_file(self, path: Path) -> str | None:
        """The same of a file, whose forward dynamics it computes, too."""
        return self._answer("file", str(path), 3 * SECONDS)

    def _answer(self, kind: str, source: str, seconds: float) -> str | None:
        if self.process is None:
            command = [sys.executable, "-c", SERVER]
            pipe, null = subprocess.PIPE, subprocess.DEVNULL
            self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=null, text=True)
        server = self.process
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps([kind, source]) + "\n")
        server.stdin.flush()
        # the reference leaves files open that it reads, so that there may be more than `select.select` accepts
        waiting = select.poll()
        waiting.register(server.stdout, select.POLLIN | select.POLLHUP)
        if waiting.poll(1000 * seconds):
            line = server.stdout.readline()
            if line:
                return json.loads(line)
        self.close()
        return CRASH

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def refusal(xml: str) -> str | None:
    """Why this compiler refuses the model, None if it accepts it."""
    try:
        cardan.MjModel.from_xml_string(xml)
    except MjcfError as error:
        return str(error)
    return None


def parts(element: ElementTree.Element, row: ElementRow) -> Iterator[tuple[ElementTree.Element, ElementRow]]:
    """All elements inside one, with their rows of the table."""
    for child in element:
        below = row.children.get(child.tag) or row
        yield child, below
        yield from parts(child, below)


def changes(xml: str) -> Iterator[tuple[str, str, str | None, str]]:
    """Element, attribute, its new value (None: removed) and the whole model, for each change."""
    root = ElementTree.fromstring(xml)
    seen: set[str] = set()
    for element, row in parts(root, SCHEMA):
        if element.tag in seen and element.tag not in ("joint", "geom", "site"):
            continue
        seen.add(element.tag)
        for name in (name for name, attribute in row.attributes.items() if attribute.since is None):
            old = element.get(name)
            for value in (*VALUES, None):
                element.attrib.pop(name, None)
                if value is not None:
                    element.set(name, value)
                yield element.tag, name, value, ElementTree.tostring(root, encoding="unicode")
            element.attrib.pop(name, None)
            if old is not None:
                element.set(name, old)
