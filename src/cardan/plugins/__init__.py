"""Engine plugins: the registry, and the built-in plugins (spec: programming, engine plugins)."""

from cardan.plugins.cable import CABLE
from cardan.plugins.elastic import SHELL
from cardan.plugins.pid import PID
from cardan.plugins.registry import PLUGINS, Plugin, add_stock, find_plugin
from cardan.plugins.sdf import SHAPE_PLUGINS
from cardan.plugins.strain import MEMBRANE, SOLID
from cardan.plugins.touch_grid import TOUCH_GRID

# in MuJoCo's order, so that the numbers in ``m.plugin`` are the same
STOCK: tuple[Plugin, ...] = (*SHAPE_PLUGINS, PID, CABLE, MEMBRANE, SHELL, SOLID, TOUCH_GRID)

for _plugin in STOCK:
    add_stock(_plugin)

__all__ = ["PLUGINS", "STOCK", "Plugin", "find_plugin"]
