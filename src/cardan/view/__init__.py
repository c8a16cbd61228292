"""The viewer in the browser, and that of scripts.

- ``server``: pages behind a token; ``session``: what physics and pages share; ``publisher``: from one to the other.
- ``physics``: the thread that steps; ``pace``: how fast; ``history``: states to go back to; ``perturbing``: the mouse's
  forces in the physics.
- ``shapes``: surfaces in the browser; ``instances``: from the geoms of a scene to instances of shapes; ``nodes``: from
  instances to viser's scene.
- ``mouse``, ``camera``, ``keys``, ``inputs``: what a page does to them.
- ``panels``: the controls, a file a topic.
- ``app``: all of it together; ``worker``: threads for what must not hold it up;
  ``launching``: `launch` and `launch_from_path`; ``passive``: `launch_passive`.

Only ``server``, ``inputs``, ``nodes`` and ``panels`` need viser, the extra ``cardan[view]``.
"""
