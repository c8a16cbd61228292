"""The viewer in the browser, and the viewer of scripts.

- ``server``: pages behind a token; ``session``: state shared by physics and pages; ``publisher``: sends it to the
pages.
- ``physics``: the thread that steps; ``pace``: its speed; ``history``: recorded states; ``perturbing``: forces of the
  mouse.
- ``shapes``: surfaces in the browser; ``instances``: conversion of a scene's geoms to instances of shapes; ``nodes``:
  conversion of instances to viser's scene.
- ``mouse``, ``camera``, ``keys``, ``inputs``: user input from the pages.
- ``panels``: the controls, one file for each topic.
- ``app``: the viewer that combines them; ``worker``: threads for slow tasks;
  ``launching``: `launch` and `launch_from_path`; ``passive``: `launch_passive`.

Only ``server``, ``inputs``, ``nodes`` and ``panels`` need viser, the extra ``cardan[view]``.
"""
