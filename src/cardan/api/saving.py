"""Saving models: as XML, as binary files, as text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cardan.api.arguments import check_model, check_pair
from cardan.compat import get_compat
from cardan.compiler.compile import compile_tree
from cardan.errors import FatalError, MjcfError
from cardan.files import FileName, write_file
from cardan.mjcf.canonical.scribe import statistics
from cardan.mjcf.canonical.tree import canonical_tree
from cardan.mjcf.canonical.written import is_written, written_tree
from cardan.mjcf.docs import schema_page, schema_text
from cardan.mjcf.writer import write_tree
from cardan.model import internals
from cardan.model.binary import dump_model, dumped_size, load_model
from cardan.model.mjmodel import MjModel, register_reader
from cardan.model.printing import DEFAULT_FORMAT, check_format, data_text, model_text

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel
    from cardan.spec.tree import ModelTree


class Source:
    """Source of a compiled model: model tree (owned by this object alone), sizes and the compiler's statistics."""

    __slots__ = ("_rests", "_tree", "sizes", "statistic")

    def __init__(self, tree: ModelTree, sizes: dict[str, int], statistic: dict[str, object]) -> None:
        self._tree = tree
        self._rests = True
        self.sizes = sizes
        self.statistic = statistic
        tree.lay_down()

    @property
    def tree(self) -> ModelTree:
        """The model tree, unpacked at the first access."""
        if self._rests:
            self._tree.take_up()
            self._rests = False
        return self._tree


_last: list[Source] = []


def remember(m: MjModel, tree: ModelTree) -> MjModel:
    """Store the source of a model, so that the model can be written as XML; return the model.

    The source is also kept as the last one, for `mj_saveLastXML`.
    """
    source = Source(tree, internals.sizes(m), statistics(m))
    internals.set_source(m, source)
    _last[:] = [source]
    return m


def to_xml(m: MjModel) -> str:
    """Return the model as MJCF text, in the canonical subset (spec: modeling, "Model creation").

    Numbers are written with their current values, even if they were changed after compilation. Files (meshes, textures,
    ...) are referred to as in the original, relative to the folder of the model file.

    Raises:
        ValueError: the model was not compiled from XML or a tree (but loaded from a binary file, unpickled, ...), or
            contains a NaN.
    """
    check_model("to_xml", m)
    if internals.source(m) is None:
        raise ValueError("to_xml: this model was not compiled from XML in this process, so its source is not known")
    return _text(m, internals.source(m))


def _text(m: MjModel, source: Source) -> str:
    """Return the MJCF text of a model, given its source."""
    if is_written(source.tree):
        _check_unchanged(m, source.tree)
        return write_tree(written_tree(source.tree, m))
    return write_tree(canonical_tree(m, source.tree, source.statistic))


def _check_unchanged(m: MjModel, tree: ModelTree) -> None:
    """Raise MjcfError if numbers of a model were changed after compilation: the text as written does not have them."""
    fresh = compile_tree(tree)
    if dump_model(fresh) != dump_model(m):
        found, wanted = internals.memory(m).arrays, internals.memory(fresh).arrays
        names = [name for name in wanted if not np.array_equal(found[name], wanted[name])]
        what = f"{names[0]} was changed" if names else "numbers were changed"
        reason = f"{what} after compilation, and a model that is saved as it was written keeps no such changes"
        raise tree.section("compiler").error(f"{reason}; use savecompiled='true'", "savecompiled")


def mj_saveLastXML(filename: FileName, m: MjModel) -> None:
    """Save the last compiled model as MJCF, with the numbers of ``m``.

    Args:
        filename: path of the file, which is written completely or not at all; "" prints the text.
        m: the last compiled model, with any changes made at run time, or another model of the same sizes.

    Raises:
        FatalError: no model was compiled yet, ``m`` and the last model differ in size, or the file can't be written.
    """
    check_model("mj_saveLastXML", m)
    if not _last:
        raise FatalError("mj_saveLastXML: no XML model was loaded")
    source = _last[0]
    if source.sizes != internals.sizes(m):
        raise FatalError("mj_saveLastXML: the model has other sizes than the XML model that was loaded last")
    text = _text(m, source)
    if not filename:
        print(text, end="")
        return
    try:
        write_file(filename, text)
    except OSError as error:
        raise FatalError(f"mj_saveLastXML: {error}") from None


# --- binary files ----------------------------------------------------------------------------------------------------


def mj_sizeModel(m: MjModel) -> int:
    """Number of bytes that `mj_saveModel` writes."""
    check_model("mj_sizeModel", m)
    return dumped_size(m)


def mj_saveModel(m: MjModel, filename: FileName | None = None, buffer: np.ndarray | None = None) -> None:
    """Save the model in binary form to a buffer or, if no buffer is given, to a file.

    The format is Cardan's own (`cardan.model.binary`); MuJoCo does not read it.

    Args:
        m: the model.
        filename: path of the file, which is written completely or not at all.
        buffer: writable uint8 vector of at least ``mj_sizeModel(m)`` bytes.

    Raises:
        TypeError: neither a filename nor a buffer is given, or the buffer has another type.
        FatalError: the buffer is too small.
        OSError: the file can't be written.
    """
    check_model("mj_saveModel", m)
    if buffer is None:
        if filename is None:
            raise TypeError("mj_saveModel: give a filename or a buffer")
        write_file(filename, dump_model(m))
        return
    if not isinstance(buffer, np.ndarray) or buffer.dtype != np.uint8 or not buffer.flags.writeable or buffer.ndim > 2:
        raise TypeError("mj_saveModel: buffer must be a writeable NumPy vector of uint8")
    data = dump_model(m)
    if buffer.size < len(data):
        raise FatalError(f"mj_saveModel: the buffer has {buffer.size} bytes, the model needs {len(data)}")
    buffer.reshape(-1)[: len(data)] = np.frombuffer(data, np.uint8)


def load_binary(filename: str, assets: Mapping[str, bytes] | None = None) -> MjModel:
    """Read a binary model file; see `MjModel.from_binary_path`."""
    if assets and filename in assets:
        return load_model(assets[filename], filename)
    try:
        data = Path(filename).read_bytes()
    except OSError as error:
        raise MjcfError(f"cannot read the model file: {error.strerror or error}", filename) from None
    return load_model(data, filename)


# --- text ------------------------------------------------------------------------------------------------------------


def mj_printFormattedModel(m: MjModel, filename: FileName, float_format: str | bytes) -> None:
    """Write the complete model to a text file.

    Args:
        m: the model.
        filename: path of the file.
        float_format: printf format of one float, such as ``"%.17g"``.

    Raises:
        ValueError: the format is invalid.
        OSError: the file can't be written.
    """
    check_model("mj_printFormattedModel", m)
    write_file(filename, model_text(m, check_format(float_format)))


def mj_printModel(m: MjModel, filename: FileName) -> None:
    """Write the complete model to a text file, with two significant digits; see `mj_printFormattedModel`."""
    mj_printFormattedModel(m, filename, DEFAULT_FORMAT)


def mj_printFormattedData(m: MjModel, d: MjData, filename: FileName, float_format: str | bytes) -> None:
    """Write the complete data to a text file; arguments and errors as in `mj_printFormattedModel`."""
    check_pair("mj_printFormattedData", m, d)
    write_file(filename, data_text(m, d, check_format(float_format)))


def mj_printData(m: MjModel, d: MjData, filename: FileName) -> None:
    """Write the complete data to a text file, with two significant digits; see `mj_printFormattedModel`."""
    mj_printFormattedData(m, d, filename, DEFAULT_FORMAT)


def mj_printSchema(flg_html: bool, flg_pad: bool) -> str:
    """Return a description of the MJCF language: elements, how often each may occur, attributes.

    Args:
        flg_html: True for a table in HTML, False for plain text.
        flg_pad: True to indent the HTML by padding, False to indent it by spaces.
    """
    return schema_page(get_compat(), bool(flg_pad)) if flg_html else schema_text(get_compat())


register_reader("binary_path", load_binary)
register_reader("to_xml", to_xml)

__all__ = ["mj_printData", "mj_printFormattedData", "mj_printFormattedModel", "mj_printModel", "mj_printSchema"]
__all__ += ["mj_saveLastXML", "mj_saveModel", "mj_sizeModel"]
