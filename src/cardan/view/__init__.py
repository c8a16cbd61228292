"""The viewer in the browser, and the viewer of scripts.

- ``server``: pages behind a token; ``session``: state shared by physics and pages; ``publisher``: sends it to the
  pages; ``physics``: the thread that steps, recorded states, forces of the mouse.
- ``instances``: conversion of a scene's geoms to instances of shapes; ``nodes``, ``objects``, ``lights``: conversion to
  viser's scene.
- ``mouse``, ``camera``, ``inputs``: user input from the pages; ``controls``, ``panels``: the controls and keys.
- ``source``, ``uploads``: files of models; ``capture``: pictures and videos.
- ``app``: the viewer that combines them; ``launching``: `launch`, `launch_from_path` and `launch_passive`.

Only ``server``, ``inputs``, ``nodes`` and ``panels`` need viser, the extra ``cardan[view]``.
"""
