"""Binary model files, which contain all fields of an MjModel in Cardan's own format.

A file is a preamble of 56 bytes, a header in JSON, and the payload. All numbers are little-endian.

===== ======= =======================================================================================
start bytes   content
===== ======= =======================================================================================
0     8       ``MAGIC``
8     4       version of the format, unsigned
12    4       length of the header, unsigned
16    8       length of the payload, unsigned
24    32      SHA-256 of bytes 0 to 23, the header and the payload
56            header: ``{"made_by": ..., "sizes": {name: number}, "fields": [[name, type, shape], ...],
              "plugins": [name of the plugin of each instance]}``
              payload: the fields in the order of the header, without gaps; scalars have one element
===== ======= =======================================================================================

The checksum detects damage but does not protect against forged files. Load a model file only if you would also run a
program from the same source.
"""

from __future__ import annotations

import hashlib
import json
import struct
from math import prod
from typing import Any

import numpy as np

from cardan.errors import MjcfError
from cardan.jit.memory.fields import Field, dimension
from cardan.model.mjmodel import MjModel
from cardan.model.tables import MODEL, SIZE_NAMES

MAGIC = b"\x89CARDAN\n"
VERSION = 1
_START = struct.Struct("<8sIIQ")
_DIGEST_BYTES = 32
PREAMBLE = _START.size + _DIGEST_BYTES
_LARGEST_HEADER = 1 << 20
_LARGEST_SIZE = 1 << 40
# first number in MuJoCo's own binary files
_MJB_START = struct.pack("<i", 54321)

FIELDS: tuple[Field, ...] = tuple(field for field in MODEL.fields if not field.is_attached)


def dump_model(m: MjModel) -> bytes:
    """Return the model as the bytes of a binary model file."""
    header = _header(m)
    payload = b"".join(_bytes_of(m, field) for field in FIELDS)
    start = _START.pack(MAGIC, VERSION, len(header), len(payload))
    return start + _digest(start, header, payload) + header + payload


def dumped_size(m: MjModel) -> int:
    """Return the number of bytes that `dump_model` returns."""
    return PREAMBLE + len(_header(m)) + _payload_bytes(m._memory.sizes)


def load_model(data: bytes | memoryview, source: str) -> MjModel:
    """Read a model from the bytes of a binary model file; ``source`` is the file's name for error messages.

    Raises:
        MjcfError: the file has another format or a newer version, or is truncated or damaged.
    """
    view = memoryview(data)
    header_bytes, payload_bytes = _read_preamble(view, source)
    _check_length(view, PREAMBLE + header_bytes + payload_bytes, source)
    header = bytes(view[PREAMBLE : PREAMBLE + header_bytes])
    payload = view[PREAMBLE + header_bytes :]
    if _digest(view[: _START.size], header, payload) != view[_START.size : PREAMBLE]:
        raise MjcfError("damaged binary model: the checksum does not fit the content", source)
    sizes, plugins = _read_header(header, source)
    if payload_bytes != _payload_bytes(sizes):
        raise MjcfError("damaged binary model: the sizes do not fit the length of the content", source)
    return _fill(sizes, plugins, payload, source)


def copy_with(m: MjModel, sizes: dict[str, int], arrays: dict[str, np.ndarray]) -> MjModel:
    """Return a copy of a model with some other sizes; `arrays` has the values of all arrays whose shapes change."""
    new = MjModel({**m._memory.sizes, **sizes})
    for field in FIELDS:
        name = field.name
        if not field.is_scalar:
            new._memory.arrays[name][...] = arrays[name] if name in arrays else m._memory.arrays[name]
        elif name not in sizes:
            new._memory.scalars[name][0] = m._memory.scalars[name][0]
    new._source, new._mesh_poses = m._source, m._mesh_poses
    new.name_plugins(m._plugins)
    new.finalize()
    return new


# --- writing ---------------------------------------------------------------------------------------------------------


def _header(m: MjModel) -> bytes:
    sizes = {name: m._memory.sizes[name] for name in SIZE_NAMES}
    content = {"made_by": "cardan", "sizes": sizes, "fields": _field_rows(), "plugins": list(m._plugins)}
    return json.dumps(content, separators=(",", ":")).encode()


def _field_rows() -> list[list[Any]]:
    """Return the table of fields in the form that the header contains: [name, type, shape] for each field."""
    return [[field.name, field.dtype, list(field.shape)] for field in FIELDS]


def _bytes_of(m: MjModel, field: Field) -> bytes:
    memory = m._memory
    array = memory.scalars[field.name] if field.is_scalar else memory.arrays[field.name]
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def _digest(*parts: bytes | memoryview) -> bytes:
    """Return the checksum of all parts of a file except the checksum itself."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.digest()


def _payload_bytes(sizes: dict[str, int]) -> int:
    """Return the length of the payload, in bytes, for the given sizes of a model."""
    return sum(field.numpy_dtype.itemsize * prod(dimension(d, sizes) for d in field.shape) for field in FIELDS)


# --- reading ---------------------------------------------------------------------------------------------------------


def _read_preamble(view: memoryview, source: str) -> tuple[int, int]:
    """Return the lengths of header and payload; raise MjcfError if the file has another format or a newer version."""
    if bytes(view[: len(MAGIC)]) != MAGIC[: len(view)]:
        kind = "it does not begin as one"
        if bytes(view[:4]) == _MJB_START:
            kind = "this is a binary model (MJB) of MuJoCo, which only MuJoCo reads; save the model as XML there"
        elif bytes(view[:256]).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
            kind = "this looks like XML; read it with from_xml_path"
        raise MjcfError(f"not a binary model of Cardan: {kind}", source)
    _check_length(view, PREAMBLE, source)
    _, version, header_bytes, payload_bytes = _START.unpack(view[: _START.size])
    if version > VERSION:
        raise MjcfError(f"binary model of format {version}, newer than {VERSION}, which this version reads", source)
    if version < 1 or header_bytes > _LARGEST_HEADER:
        raise MjcfError("damaged binary model: the preamble holds impossible numbers", source)
    return header_bytes, payload_bytes


def _check_length(view: memoryview, wanted: int, source: str) -> None:
    """Raise MjcfError if the file is shorter than `wanted` bytes.

    If `wanted` is more than the preamble, the file must not be longer either.
    """
    if len(view) < wanted:
        raise MjcfError(f"truncated binary model: {len(view)} bytes of {wanted}", source)
    if len(view) > wanted > PREAMBLE:
        raise MjcfError(f"damaged binary model: {len(view) - wanted} bytes follow its end", source)


def _read_header(header: bytes, source: str) -> tuple[dict[str, int], list[str]]:
    """Return the sizes and the plugins; raise MjcfError if they are invalid or the table of fields is different."""
    try:
        content = json.loads(header)
        sizes, fields, plugins = content["sizes"], content["fields"], content.get("plugins", [])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise MjcfError("damaged binary model: the header is not readable", source) from None
    if fields != _field_rows():
        known = {field.name for field in FIELDS}
        names = {str(row[0]) for row in fields if isinstance(row, list) and row} if isinstance(fields, list) else set()
        other = ", ".join(sorted(known ^ names)[:5]) or "the order or the shape of fields"
        raise MjcfError(f"binary model made by another version of Cardan, which differs in: {other}", source)
    if not isinstance(sizes, dict) or sizes.keys() != set(SIZE_NAMES):
        raise MjcfError("damaged binary model: the header does not hold the sizes of a model", source)
    for name, value in sizes.items():
        if type(value) is not int or not -1 <= value <= _LARGEST_SIZE or (value < 0 and name not in _MAY_BE_UNSET):
            raise MjcfError(f"damaged binary model: the size {name} is {value!r}", source)
    if not isinstance(plugins, list) or len(plugins) != sizes["nplugin"] or not all(type(n) is str for n in plugins):
        raise MjcfError("damaged binary model: the header does not name the plugin of each instance", source)
    return sizes, plugins


_MAY_BE_UNSET = ("njmax", "nconmax")


def _fill(sizes: dict[str, int], plugins: list[str], payload: memoryview, source: str) -> MjModel:
    """Make a finished model from its sizes, plugins and payload. Raises MjcfError if they contradict each other."""
    m = MjModel(sizes)
    memory, at = m._memory, 0
    for field in FIELDS:
        count = prod(dimension(d, sizes) for d in field.shape)
        dtype = field.numpy_dtype.newbyteorder("<")
        values = np.frombuffer(payload, dtype, count, at) if count else np.empty(0, dtype)
        at += count * dtype.itemsize
        if field.is_scalar:
            memory.scalars[field.name][0] = values[0]
        else:
            memory.arrays[field.name][...] = values.reshape(memory.arrays[field.name].shape)
    m.name_plugins(plugins)
    try:
        m.finalize()
    except (IndexError, ValueError, OverflowError) as error:
        raise MjcfError(f"damaged binary model: its tables contradict each other ({error})", source) from None
    return m
