"""Tables that find names, against the obvious way to make them."""

from __future__ import annotations

import numpy as np

import cardan
from cardan.model.named import NAME_FIELDS, read_names


def name_hash(name: str) -> int:
    """Hash of a name (Bernstein's, exclusive-or form, on 64 bits)."""
    value = 5381
    for byte in name.encode():
        value = (value * 33 ^ byte) & (2**64 - 1)
    return value


def name_table(names: list[str]) -> list[int]:
    """Ids at the hashes of their names, or at the next free places; -1 where empty."""
    size = 2 * len(names)
    table = [-1] * size
    for i, name in enumerate(names):
        if name:
            place = name_hash(name) % size
            while table[place] >= 0:
                place = (place + 1) % size
            table[place] = i
    return table


def test_name_hash_is_djb2() -> None:
    assert name_hash("") == 5381
    assert name_hash("a") == 5381 * 33 ^ ord("a")


def test_tables_of_all_kinds_of_names() -> None:
    words = ["a", "b" * 40, "", "ä", "名前", "x y", *(f"part_{k}" for k in range(60))]
    bodies = "".join(f'<body name="{w}"><geom name="{w}" size="1"/></body>' for w in words)
    m = cardan.MjModel.from_xml_string(f'<mujoco model="müde"><worldbody>{bodies}</worldbody></mujoco>')
    assert read_names(m, "geom") == words
    expected = np.concatenate([name_table(read_names(m, kind)) for kind in NAME_FIELDS])
    assert m.names_map.tolist() == expected.tolist()


def test_limits_of_joints() -> None:
    """With compat 4.0, `solref` and `solimp` of a joint are those of its limit; in 3.1.6 those of friction."""
    xml = (
        '<mujoco><worldbody><body><joint name="j" solreflimit=".1 .2" solreffriction=".3 .4"/><geom size=".1"/></body>'
    )
    xml += "</worldbody></mujoco>"
    for version, wanted in (("3.1", [[0.3, 0.4]]), ("4.0", [0.1, 0.2])):
        m = cardan.MjModel.from_xml_string(xml, compat=version)
        assert m.joint("j").solref.tolist() == wanted
        m.joint("j").solref[...] = 0.5
        assert ((m.dof_solref if version == "3.1" else m.jnt_solref) == 0.5).all()
