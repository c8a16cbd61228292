"""Drawing a scene: the order of the kernels, their memory and their threads."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any, Generic, TypeVar

import numpy as np

from cardan.enums import mjtRndFlag
from cardan.enums.codes import GEOM_BOX
from cardan.jit import StructMemory
from cardan.render import tiles
from cardan.render.assets import Assets
from cardan.render.camera import View, average_camera, in_model, mirrored, view_of
from cardan.render.fields import FRAME, GEOM_WORDS, LIGHT_WORDS
from cardan.render.geometry import begin_share, color_share, finish_share
from cardan.render.instances import MOST_PARTS, make_instances, take_geoms
from cardan.render.kernels import call
from cardan.render.lighting import LIT_NUMBERS, MOST_LIT, light_lines, shadow_view, take_lights
from cardan.render.picture import draw_tiles
from cardan.render.raster import lane_places, row_places
from cardan.render.shadows import MAP_LANES, bound_maps, draw_map_or_fill
from cardan.render.vertices import COLORS
from cardan.threads import Crew
from cardan.visual import MjvGLCamera, MjvScene
from cardan.visual.append import CASTS_SHADOW, IS_TRANSPARENT


def names_of(prefix: str, *others: str) -> list[str]:
    """Return the names of a picture's arrays that begin with `prefix`, except `others`."""
    return [n for n, field in FRAME.by_name.items() if n.startswith(prefix) and field.shape and n not in others]


GEOM_ARRAYS, VIEW_ARRAYS = names_of("geom_"), names_of("view_")
INSTANCE_ARRAYS = names_of("inst_", "inst_trinum", "inst_box")
LIGHT_ARRAYS = names_of("light_", "light_line")
LEVEL_ARRAYS = ["run_corner", "run_u", "run_v"]
RUN_ARRAYS = names_of("run_", "run_hit", "run_layer", *LEVEL_ARRAYS)
CASTER_ARRAYS = [f"inst_{name}" for name in ("shape", "scale", "pose", "line", "part", "parts")]
VIEW_COLUMNS = ("width", "height", "perspective", "near", "far", "flip", "shadow", "mirror")
DEPTHS = COLORS + 1
"""Drawing mode for depths and geom ids."""
FEW_PIXELS, FEW_TRIANGLES = 128 * 128, 32768
"""Numbers of pixels and triangles up to which one thread draws, because waking other threads would take longer."""
FEW_MAPPED, BAND_PIXELS = 65536, 131072
"""Number of triangles up to which shadow maps are drawn in bands, and number of pixels of a band that fits the
cache."""
SHARES, BANDS = 8, 4
"""Number of shares of the work for each thread, and number of bands of shadow maps for each thread."""
T = TypeVar("T")
RENDERING_FLAGS = {name.removeprefix("mjRND_"): flag.value for name, flag in mjtRndFlag.__members__.items()}
"""Number of each rendering flag, by its name."""


def flag_of(scene: MjvScene, name: str) -> bool:
    """Return whether a rendering flag of a scene is set."""
    return bool(scene.values["flags"][RENDERING_FLAGS[name]])


class Last(Generic[T]):
    """Cache for one result, which is valid while its key does not change."""

    def __init__(self) -> None:
        self.key: object = None
        self.value: T | None = None

    def of(self, key: object, make: Callable[[], T]) -> T:
        """Return the cached result if `key` is unchanged; else call `make`. `key` must contain all inputs of `make`."""
        if self.value is None or key != self.key:
            self.value, self.key = None, key
            self.value = make()
        return self.value


class Frame:
    """A picture that is being drawn, its threads, and its memory, which later pictures reuse."""

    def __init__(self, assets: Assets, threads: int = 1) -> None:
        self.assets = assets
        self.memory = StructMemory(FRAME, {"ncolor": 4})
        self.memory.attach("ramp", np.arange(tiles.TILE_WIDTH, dtype=np.float32))
        self.threads = threads
        self.crew = Crew(threads, "cardan-render")
        self.most_workers = threads
        self.color = np.zeros((0, 3), np.uint8)
        self.epoch = 0
        self.whole = True  # whether the last picture was finished
        self._forget()

    def _forget(self) -> None:
        """Discard all results of the last picture, so that the next picture is drawn from scratch."""
        self.memory.arrays.pop("shadow_near", None)
        self.lanes = 0
        self.geoms: np.ndarray | None = None
        self.lights: np.ndarray | None = None
        self.geom_room = -1
        self.instance_room = -1
        self.view_room: tuple[int, ...] = ()
        self.size: tuple[int, ...] = ()
        self.ordered = 0
        self.views: list[View] = []
        self.middle: Last[MjvGLCamera] = Last()
        self.first_view: Last[View] = Last()
        self.mirror: Last[list[View]] = Last()
        self.light_views: Last[list[View]] = Last()
        self.effects: Last[float] = Last()
        self.mapped: tuple[object, ...] | None = None

    def _picture(self, name: str, *inner: int) -> np.ndarray:
        height, width = self.get("height"), self.get("width")
        return self.memory.arrays[name][: height * width].reshape(height, width, *inner)

    def colors(self) -> np.ndarray:
        """Colours, (height, width, 3) uint8: a view of memory, which the next picture overwrites."""
        return self._picture("color", 3)

    def depths(self) -> np.ndarray:
        """Distances along the camera's axis, (height, width) float32, m."""
        return self._picture("depth")

    def segments(self) -> np.ndarray:
        """Number of the scene's geom in each pixel, (height, width) int32; -1 if the pixel is empty."""
        return self._picture("segment")

    def room(self, name: str, length: int) -> np.ndarray:
        """Return the array `name` with at least `length` rows; allocate a new one only if the old one does not fit."""
        array, field = self.memory.arrays.get(name), self.memory.struct.by_name[name]
        inner = tuple(self.get("ncolor") if size == "ncolor" else int(size) for size in field.inner)
        if array is None or len(array) < length or array.shape[1:] != inner:
            array = np.zeros((max(1, length + length // 4), *inner), field.numpy_dtype)
            self.memory.attach(name, array)
        return array

    def set(self, **scalars: float) -> None:
        """Set scalars of the structure, by name."""
        for name, value in scalars.items():
            self.memory.scalars[name][0] = value

    def get(self, name: str) -> int:
        """Return an integer scalar of the structure."""
        return int(self.memory.scalars[name][0])

    def call(self, function: Callable[..., Any], i: int = 0, j: int = 0) -> int:
        """Run a stage on the assets and this picture, with two integers; return the stage's result."""
        return call(function, self.assets.memory, self.memory, i, j)

    def draw(
        self,
        scene: MjvScene,
        width: int,
        height: int,
        nsample: int,
        mode: int,
        camera: MjvGLCamera | None,
        out: np.ndarray | None = None,
    ) -> None:
        """Draw the view of a camera. The result is in `colors` in mode `COLORS`, else in `depths` and `segments`.

        `nsample` is the number of samples per pixel, 1 or 4, for colours. Without a camera, the camera midway between
        the scene's eyes is used. `out` is a contiguous array for the colours, (height, width, 3) uint8, the highest row
        first.
        """
        if not self.whole:
            self._forget()
        self.whole = False
        self.epoch += 1
        if mode != COLORS:
            nsample = 1  # depths and geoms are sampled at the centres of pixels
        self.set(epoch=self.epoch)
        if (width, height, nsample, mode) != self.size:
            self.size = (width, height, nsample, mode)
            self.set(width=width, height=height, nsample=nsample, sample_shift=nsample.bit_length() - 1, mode=mode)
        if nsample != self.lanes:
            self.lanes = nsample
            for name, places in zip(("lane_x", "lane_y"), lane_places(nsample), strict=True):
                self.memory.attach(name, places.astype(np.float32))
            self.memory.attach("sample_x", row_places(nsample).astype(np.float32))
        pixels = width * height
        if len(self.color) < pixels and out is None:
            self.color = np.zeros((pixels + pixels // 4, 3), np.uint8)
        target = self.color if out is None else out.reshape(-1, 3)
        if self.memory.arrays.get("color") is not target:
            self.memory.attach("color", target)
        self.set(highest_first=out is not None)
        cameras = scene.camera_values.tobytes()
        if camera is None:
            camera = self.middle.of(cameras, lambda: average_camera(scene))
        if camera.frustum_near > 0.0:
            self._draw(scene, camera, cameras)
        else:  # the scene was never updated and so has no camera
            target[:pixels] = 0
            self.room("depth", pixels)[:] = camera.frustum_far
            self.room("segment", pixels)[:] = -1
        self.whole = True

    def _draw(self, scene: MjvScene, camera: MjvGLCamera, cameras: bytes) -> None:
        """Draw the view of a camera, given in room space; `cameras` are the bytes of the cameras of the scene."""
        width, height, _, mode = self.size
        effects = (cameras, scene.values["flags"].tobytes())
        self.set(haze=self.effects.of(effects, lambda: self._take_effects(scene)))
        self._put_geoms(scene)
        room = b""
        if scene.enabletransform:
            room = scene.translate.tobytes() + scene.rotate.tobytes() + scene.values["scale"].tobytes()
        key = (camera.values.tobytes(), room, width, height)
        view = self.first_view.of(key, lambda: view_of(in_model(scene, camera), width, height))
        views = [view, *self._mirror_views(scene, view)]
        shadows = flag_of(scene, "SHADOW") and mode == COLORS and self.assets.shadow_size > 0
        lights = (shadows, scene.light_values[: scene.nlight].tobytes())
        views += self.light_views.of(lights, lambda: self._take_lights(scene, shadows))
        self._put_views(views)
        self.call(make_instances)
        small = width * height <= FEW_PIXELS and self.get("ntri") <= FEW_TRIANGLES
        self.most_workers = 1 if small else self.threads
        self.set(nshare=1 if self.most_workers == 1 else SHARES * self.most_workers)
        self._make_room(width, height, len(views))
        lit, layers = 1 + self.get("nmirror"), self.get("nlayer")
        casters = self._casters(views[len(views) - layers :])
        if casters is not None and casters == self.mapped:  # the maps from the last picture are still valid
            self._set_up(lit, lit)
            self._fill(lit, 0)
        else:
            self._set_up(len(views), lit)
            self.mapped = None
            self._fill(lit, layers)
            self.mapped = casters
        self._draw_tiles(-(-width // tiles.TILE_WIDTH) * -(-height // tiles.TILE_HEIGHT))
        if scene.enabletransform and mode != COLORS:
            self.depths()[...] *= np.float32(scene.scale)  # distances in the room

    def _each(self, function: Callable[..., Any], first: int, second: int) -> None:
        """Run a stage on all workers, once for each pair (i, j) with 0 <= i < `first` and 0 <= j < `second`."""
        self.crew.each(
            lambda part, _: self.call(function, part // second, part % second), first * second, self.most_workers
        )

    def _set_up(self, nview: int, lit: int) -> None:
        """Set up vertices and triangles of all views, and count the triangles of each tile of the first `lit` views."""
        shares = self.get("nshare")
        self.call(tiles.clear_bins, lit)
        self._each(begin_share, nview, shares)
        if self.get("nsplit"):
            self._each(finish_share, nview, shares)
            self._each(color_share, lit, shares)
        self.room("bin_tri", self.call(tiles.place_bins, lit))

    def _casters(self, lights: list[View]) -> tuple[object, ...] | None:
        """Return the cache key of the shadow maps: all inputs; None if there are soft bodies or no shadow maps."""
        if not lights or self.get("nsoft"):
            return None
        n, arrays = self.get("ninst"), self.memory.arrays
        views = (part for view in lights for part in (view.rows.tobytes(), view.near, view.far, view.perspective))
        casting = arrays["scene_i"][arrays["inst_geom"][:n], IS_TRANSPARENT] & CASTS_SHADOW
        parts = (arrays[name][:n].tobytes() for name in CASTER_ARRAYS)
        return (self.assets.uploads, *views, casting.tobytes(), *parts)

    def _fill(self, lit: int, layers: int) -> None:
        """Draw the shadow maps of `layers` lights, and list the triangles of each tile of the first `lit` views."""
        most, triangles, bands = self.most_workers, self.get("ntri"), 0
        if layers:
            parts = 1 if most == 1 else BANDS * most
            pixels = self.call(bound_maps, layers)
            if triangles <= FEW_MAPPED:
                parts = max(parts, pixels // BAND_PIXELS)
            self.set(shadow_parts=parts)
            bands = layers * parts
        elif most == 1 or triangles <= FEW_TRIANGLES:
            self.call(tiles.fill_all, lit)
            return
        parts = bands + lit * self.get("nshare")
        self.crew.each(lambda part, _: self.call(draw_map_or_fill, part, bands), parts, most)

    def _draw_tiles(self, count: int) -> None:
        """Draw the `count` tiles of the picture. If several threads draw, they begin with the fullest tiles."""
        order = self.room("tile_order", count)
        shares = -(-count // 256)  # signal handlers run between two native calls
        if self.most_workers > 1:
            shares = max(shares, SHARES * self.most_workers)
            self.call(tiles.order_tiles, count)
            self.ordered = 0
        elif self.ordered != count:
            self.ordered = count
            order[:count] = np.arange(count)
        self.set(tile_shares=shares)
        self.crew.each(lambda share, worker: self.call(draw_tiles, share, worker), shares, self.most_workers)

    def _take_effects(self, scene: MjvScene) -> float:
        """Store flags, colours and the mean camera position; return the haze fraction of infinite planes, or 0."""
        assets = self.assets
        cameras = scene.camera_values
        self.set(
            cull=flag_of(scene, "CULL_FACE"),
            wireframe=flag_of(scene, "WIREFRAME"),
            textured=1,
            additive=flag_of(scene, "ADDITIVE"),
            sky=assets.sky if flag_of(scene, "SKYBOX") else -1,
            sky_radius=assets.sky_share * float(cameras[0]["frustum_far"]),
            fog=flag_of(scene, "FOG"),
            fog_start=assets.fog_start,
            fog_end=assets.fog_end,
        )
        self.memory.arrays["fog_color"][:3] = assets.fog_color
        self.memory.arrays["haze_color"][:3] = assets.haze_color
        self.memory.arrays["eye"][:] = 0.5 * (cameras["pos"][0] + cameras["pos"][1])
        return assets.haze if flag_of(scene, "HAZE") else 0.0

    def _put_geoms(self, scene: MjvScene) -> None:
        """Copy the geoms of a scene; transparent geoms are drawn last, in the order of decreasing distance."""
        n = scene.ngeom
        if self.geoms is not scene.geom_values:
            self.geoms = scene.geom_values
            for name, dtype in (("scene_i", np.int32), ("scene_f", np.float32)):
                self.memory.attach(name, self.geoms.view(dtype).reshape(len(self.geoms), GEOM_WORDS))
        if n != self.geom_room:
            self.geom_room = n
            for name in GEOM_ARRAYS:
                self.room(name, n)
        self.set(ngeom=n)
        clear = self.call(take_geoms)
        parts = MOST_PARTS * n + self.get("nsplit")
        parts += len(scene.flexvert) // 3 if scene.flexvertopt else 0
        parts += len(scene.flexedge) // 2 if scene.flexedgeopt else 0
        if parts != self.instance_room:
            self.instance_room = parts
            for name in INSTANCE_ARRAYS:
                self.room(name, parts)
        if clear > 1:
            last = self.memory.arrays["geom_order"][n - clear : n]
            last[:] = last[np.argsort(-self.memory.arrays["geom_square"][last], kind="stable")]
        if not self.assets.nsoft:
            return
        memory = self.memory
        memory.attach("flex_vert", scene.flexvert.reshape(-1, 3))
        memory.attach("flex_edge", scene.flexedge.reshape(-1, 2))
        for name in ("vertadr", "vertnum", "edgeadr", "edgenum"):
            memory.attach(f"flex_{name}", getattr(scene, f"flex{name}"))
        self.set(flex_showvert=scene.flexvertopt, flex_showedge=scene.flexedgeopt)
        if self.get("nsoft"):
            self.assets.take_soft(scene)

    def _mirror_views(self, scene: MjvScene, view: View) -> list[View]:
        """Return a list with the view in the scene's mirror, or an empty list if the scene has no mirror.

        The mirror is the upper side of the first box that reflects, or the first plane that reflects and is seen from
        above. A scene has at most one mirror, as in MuJoCo.
        """
        self.set(nmirror=0)
        if not (flag_of(scene, "REFLECTION") and self.get("nreflect") and self.get("mode") == COLORS):
            return []
        arrays = self.memory.arrays
        candidates = arrays["geom_reflecting"][: self.get("nreflect")]
        key = (view, candidates.tobytes(), scene.geom_values[candidates].tobytes())
        mirrors = self.mirror.of(key, lambda: _mirrors_among(scene, candidates, view))
        for mirror in mirrors:
            arrays["geom_mirror"][mirror.mirror] = 0
        self.set(nmirror=len(mirrors))
        return mirrors

    def _take_lights(self, scene: MjvScene, shadows: bool) -> list[View]:
        """Store the lights of a scene; return the views of lights with shadows, if `shadows` is set."""
        n = scene.nlight
        assets = self.assets
        if self.lights is not scene.light_values:
            self.lights = scene.light_values
            for name, dtype in (("scene_light_i", np.int32), ("scene_light_f", np.float32)):
                self.memory.attach(name, self.lights.view(dtype).reshape(len(self.lights), LIGHT_WORDS))
        for name in LIGHT_ARRAYS:
            self.room(name, n)
        self.set(nlight=n)
        self.call(take_lights)
        layer, views = self.memory.arrays["light_layer"], list[View]()
        for light in range(n if shadows else 0):
            view = shadow_view(
                scene, light, assets.shadow_clip, assets.shadow_scale, assets.near, assets.far, assets.shadow_size
            )
            if view is not None:
                views.append(view)
                layer[light] = len(views)
        self.set(nlayer=len(views), ncolor=4 * (1 + len(views)), shadow_size=assets.shadow_size)
        stride = (-(-assets.shadow_size // MAP_LANES) | 1) * MAP_LANES
        self.set(shadow_stride=stride)
        self.room("shadow_old", len(views))
        box = self.room("shadow_box", len(views))
        before = self.memory.arrays.get("shadow_near")
        if self.room("shadow_near", len(views) * assets.shadow_size * stride) is not before:
            box[:] = 0, -1, 0, -1
            self.mapped = None
        return views

    def _put_views(self, views: list[View]) -> None:
        n = len(views)
        before: list[View | None] = [*self.views] if n == len(self.views) else [None] * n
        if all(map(is_, views, before)):
            return
        self.views = []
        self.set(focal=views[0].focal)
        layers = self.get("nlayer")
        if layers:
            lines = [light_lines(light, view) for view in views[: n - layers] for light in views[n - layers :]]
            self.room("light_line", len(lines))[: len(lines)] = lines
        for name in VIEW_ARRAYS:
            self.room(name, n)
        arrays = self.memory.arrays
        for k, view in enumerate(views):
            if view is before[k]:
                continue
            arrays["view_row"][k] = view.rows.ravel()
            arrays["view_eye"][k] = view.eye
            arrays["view_base"][k] = view.base.ravel()
            arrays["view_ray"][k] = view.ray.ravel()
            arrays["view_limit"][k] = view.limit
            for name in VIEW_COLUMNS:
                arrays[f"view_{name}"][k] = getattr(view, name)
        self.views = views

    def _make_room(self, width: int, height: int, nview: int) -> None:
        """Allocate memory for the picture, the triangles of all views, and the tiles of all workers."""
        ninst, nvert, ntri, nnode = (self.get(name) for name in ("ninst", "nvert", "ntri", "nnode"))
        lit, ncolor = 1 + self.get("nmirror"), self.get("ncolor")
        pixels, threads, shares = width * height, self.threads, self.get("nshare")
        nodes, tables = threads * lit * nnode, max(threads, lit * shares)
        self.set(nodeadr=lit * nvert, next_level=threads * tiles.TILE_WIDTH)
        ntile = -(-width // tiles.TILE_WIDTH) * -(-height // tiles.TILE_HEIGHT)
        sizes = (pixels, ntile, shares, nview, lit, nvert, ntri, nnode, ninst, ncolor)
        if sizes == self.view_room:
            return
        self.view_room = sizes
        run = threads * tiles.TILE_WIDTH
        for length, names in (
            (pixels, ("depth", "segment")),
            (nview * nvert, ("vert_clip", "vert_pixel", "vert_beyond")),
            (lit * nvert, ("vert_tex", "vert_epoch")),
            (nodes, ("node_epoch",)),
            (lit * nvert + nodes, ("vert_color",)),
            (tables * LIT_NUMBERS, ("lit",)),
            (tables * MOST_LIT, ("lit_vert",)),
            (nview * ntri, ("tri_vert", "tri_edge", "tri_near", "tri_box", "tri_inst", "tri_back")),
            (nview * ninst, ("inst_trinum", "inst_box")),
            (lit * (ntile * shares + 2), ("bin_start",)),
            (2 * threads * tiles.MOST_SAMPLES * tiles.TILE, ("tile_near", "tile_tri")),
            (threads * lit * tiles.TILE, ("tile_color",)),
            (run, RUN_ARRAYS),
            (2 * run, LEVEL_ARRAYS),
            (run * tiles.MOST_SAMPLES, ("run_hit",)),
            (run * ncolor // 4, ("run_layer",)),
        ):
            for name in names:
                self.room(name, length)
        views = np.arange(nview)
        for name, step in (("vertadr", nvert), ("triadr", ntri), ("instadr", ninst)):
            self.memory.arrays[f"view_{name}"][:nview] = step * views


def _mirrors_among(scene: MjvScene, candidates: np.ndarray, view: View) -> list[View]:
    """Choose the mirror among the reflecting geoms `candidates`; return a list with its view, or an empty list."""
    geoms = scene.geom_values
    for geom in candidates:
        normal = geoms["mat"][geom][:, 2].astype(float)
        point = geoms["pos"][geom].astype(float)
        box = geoms["type"][geom] == GEOM_BOX
        if box:
            point = point + normal * float(geoms["size"][geom, 2])
        if (view.eye - point) @ normal > 0:
            return [mirrored(view, point, normal, int(geom))]
        if box:
            break  # it is the mirror, even if it is seen from below
    return []
