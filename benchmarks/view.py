"""The viewer: updates a second, speed of the simulation, processor time of each of its threads.

Pages are connections from another process: some read all that comes, as a browser does, some read nothing. What a
browser draws is not counted; it has processes of its own, and mostly a graphics card. Both rates depend on what else
the machine does, so processor time is told for what it brought: a second of simulation, 60 updates.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time

from benchmarks.scenes import MODELS
from benchmarks.timing import Rows, save

FILE = MODELS / "humanoid/22_humanoids.xml"
WARMING, SECONDS = 3.0, 15.0
CASES = {
    "no page": (0, 0, False),
    "one page": (1, 0, False),
    "two pages": (2, 0, False),
    "one page that reads nothing": (0, 1, False),
    "two pages, one reads nothing": (1, 1, False),
    "one page, paused": (1, 0, True),
}
"""Pages that read, pages that don't, and whether physics stands still."""
READER = """
import sys
from viser import __version__
from websockets.sync.client import connect
with connect(sys.argv[1], subprotocols=[f"viser-v{__version__}"], max_size=None, compression=None) as page:
    print("open", flush=True)
    if sys.argv[2] == "1":
        while True:
            page.recv()
    sys.stdin.read()
"""
PHYSICS, SCENE = "cardan physics", "cardan pages"


def thread_seconds() -> dict[str, float]:
    """Processor time so far of the threads of this process, by name, s."""
    found: dict[str, float] = {}
    for thread in threading.enumerate():
        if thread.ident is not None:
            found[thread.name] = time.clock_gettime(time.pthread_getcpuclockid(thread.ident))
    return found


def measure(reading: int, stuck: int, paused: bool) -> dict[str, float]:
    """One case: a viewer with so many pages for some time. Of one that is paused, physics is told for a second."""
    from cardan.view.app import Viewer
    from cardan.view.source import Source

    source = Source(FILE)
    viewer = Viewer(*source.load(), source=source, port=0)
    address = viewer.address.replace("http", "ws", 1)
    pages = [
        subprocess.Popen(
            [sys.executable, "-c", READER, address, str(int(k < reading))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for k in range(reading + stuck)
    ]
    try:
        for page in pages:
            assert page.stdout is not None and page.stdout.readline()
        time.sleep(WARMING)
        viewer.session.paused = paused
        wall, process, threads = time.perf_counter(), time.process_time(), thread_seconds()
        sent, simulated = viewer.publisher.sent, viewer.session.data.time
        time.sleep(SECONDS)
        now = thread_seconds()
        wall, process = time.perf_counter() - wall, time.process_time() - process
        sent, simulated = viewer.publisher.sent - sent, viewer.session.data.time - simulated
    finally:
        for page in pages:
            page.kill()
            page.wait()
        viewer.close()
    physics, scene = (now[name] - threads[name] for name in (PHYSICS, SCENE))
    return {
        "updates": sent / wall,
        "speed": simulated / wall,
        "physics": physics / (simulated if not paused else wall),
        "scene": 60.0 * scene / sent,
        "server": 60.0 * (process - physics - scene) / sent,
    }


def main() -> None:
    """Measure all cases."""
    rows: Rows = {}
    for title, case in CASES.items():
        rows[title] = measure(*case)
        print(title, {key: round(value, 3) for key, value in rows[title].items()}, flush=True)
    save("view", rows)


if __name__ == "__main__":
    main()
