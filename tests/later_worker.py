"""Process that runs MuJoCo 4.0.0 for `later.py`: reads pickled requests from standard input and writes pickled results.

Two versions of MuJoCo cannot share a process, so this file runs in an environment of its own and imports no tests.
"""

import pickle
import struct
import sys
import traceback


def main():
    """Serve requests until standard input ends: each is (code, names); the result is ``out``, or an error."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    import mujoco
    import numpy as np

    while head := source.read(8):
        code, names = pickle.loads(source.read(struct.unpack("<q", head)[0]))
        scope = {"mujoco": mujoco, "np": np, **names}
        try:
            exec(compile(code, "<request>", "exec"), scope)
            answer = (True, scope.get("out"))
        except Exception as error:  # the caller gets every error
            answer = (False, (type(error).__name__, str(error), traceback.format_exc()))
        content = pickle.dumps(answer)
        sink.write(struct.pack("<q", len(content)) + content)
        sink.flush()


if __name__ == "__main__":
    main()
