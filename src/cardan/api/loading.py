"""Reading and compiling models, for `MjModel.from_xml_path` and `MjModel.from_xml_string`; and `mj_setConst`."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from cardan.api.arguments import check_pair
from cardan.api.log import log, report_compilation
from cardan.api.saving import remember
from cardan.compiler.compile import compile_tree
from cardan.compiler.constants import run_position_stages, set_const
from cardan.compiler.timers import recorded
from cardan.constants import mjMAXVFSNAME
from cardan.enums.numbering import is_later
from cardan.mjcf.reader import read_path, read_string
from cardan.model import internals
from cardan.model.fields_later import FLAGS
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel, register_reader
from cardan.model.vfs import MjVfs, contents
from cardan.spec.tree import ModelTree


def _named(assets: Mapping[str, bytes] | None) -> dict[str, bytes] | None:
    """Return the assets (contents by name) with all names as str; None if there are none.

    Raises:
        ValueError: a name is longer than MuJoCo's virtual file system allows.
        TypeError: the assets are not a dictionary, or a content is not bytes.
    """
    if not assets:
        return None
    if not isinstance(assets, Mapping):
        raise TypeError(f"assets should be a dictionary of names and contents, got {type(assets).__name__}")
    named = {name.decode() if isinstance(name, bytes) else name: content for name, content in assets.items()}
    names = [Path(name).name for name in named]
    repeated = next((name for name in names if names.count(name) > 1), None) if is_later() else None
    if repeated is not None:
        raise ValueError(f"Repeated file name in assets: {repeated}")
    limit = mjMAXVFSNAME - 1
    for name, content in named.items():
        if len(name) > limit:
            raise ValueError(f"Filename length {len(name)} exceeds {limit} character limit: {name}")
        if not isinstance(content, bytes | bytearray | memoryview):
            raise TypeError(f"assets[{name!r}] should be bytes, got {type(content).__name__}")
    return named


@contextmanager
def _without_collector() -> Iterator[None]:
    """Switch the garbage collector off while a model is compiled.

    Compiling creates many objects that live until it ends. The collector would free none of them, but would examine
    them, and all other objects of the process, several times.
    """
    runs = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if runs:
            gc.enable()


@_without_collector()
def load_path(
    filename: str,
    assets: Mapping[str, bytes] | None = None,
    vfs: MjVfs | None = None,
    compat: str | None = None,
) -> MjModel:
    """Read and compile an MJCF file; see `MjModel.from_xml_path`."""
    return _compiled(read_path(filename, _named(contents(vfs, assets)), compat))


@_without_collector()
def load_string(
    xml: str, assets: Mapping[str, bytes] | None = None, vfs: MjVfs | None = None, compat: str | None = None
) -> MjModel:
    """Read and compile a model given as text; see `MjModel.from_xml_string`."""
    return _compiled(read_string(xml, _named(contents(vfs, assets)), compat))


def _compiled(tree: ModelTree) -> MjModel:
    """Compile a tree; print the durations of the phases if the log has this topic."""
    if not log.config.topics:
        return remember(compile_tree(tree), tree)
    with recorded() as durations:
        model = remember(compile_tree(tree), tree)
    report_compilation(durations)
    return model


def _renew_flags(m: MjModel) -> None:
    """Set the flags that choose stages, and with compat 4.0 the number of bodies with gravity compensation."""
    for flag, names in FLAGS.items():
        needed = any(internals.array(m, name).any() for name in names)
        if needed != getattr(m, flag):
            setattr(m, flag, needed)
    if m.is_4_0:
        internals.set_size(m, "ngravcomp", int((m.body_gravcomp > 0.0).sum()))


def mj_setConst(m: MjModel, d: MjData) -> None:
    """Recompute all constants that depend on ``qpos0`` and other real-valued fields, after the model was changed.

    As in MuJoCo 4.0, ``flg_surfacevel`` and ``flg_adhesion`` become those of the current values, and with compat 4.0
    ``flg_gravcomp`` as well.

    Args:
        m: the model, changed in place.
        d: data of the model, used as scratch memory. Afterwards, ``qpos`` equals ``qpos_spring``, and the results of
            the position stages are those for this ``qpos``.
    """
    check_pair("mj_setConst", m, d)
    _renew_flags(m)
    set_const(m, d)
    d.qpos[:] = m.qpos_spring
    run_position_stages(m, d)


def load_empty() -> MjModel:
    """Return the empty model, which has the default options."""
    return compile_tree(read_string("<mujoco/>"))


register_reader("empty", load_empty)
register_reader("xml_path", load_path)
register_reader("xml_string", load_string)

__all__ = ["mj_setConst"]
