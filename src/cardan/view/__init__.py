"""The viewer in the browser, and the viewer of scripts.

- ``server``: pages protected by a token; ``session``: state shared by physics and pages; ``publisher``: sends the scene
  to the pages; ``physics``: the thread that steps, the history of states, forces of the mouse.
- ``instances``: conversion of a scene's geoms to instances of shapes; ``nodes``, ``objects``, ``lights``: conversion to
  viser's scene.
- ``camera``, ``inputs``: user input from the pages, and the mouse; ``panels``: the controls.
- ``source``: model files, including uploads; ``capture``: pictures and videos.
- ``app``: the viewer that combines them, with its controls and keys; ``launching``: `launch`, `launch_from_path` and
  `launch_passive`.

Only ``server``, ``inputs``, ``nodes`` and ``panels`` need the package viser (extra ``cardan[view]``).
"""
