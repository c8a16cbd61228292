"""Meshes that are not convex: convex pieces, exact distances, and the warning about hulls."""

from __future__ import annotations

import pickle
import warnings
from importlib.util import find_spec

import nonconvex
import numpy as np
import pytest
from numpy.testing import assert_allclose

import cardan
from cardan.api.loading import load_string
from cardan.cli.info import piece_counts
from cardan.compiler.meshes import decompose
from cardan.compiler.meshes.kept import signed_volume
from cardan.errors import MjcfError

BALL = '<body name="ball" pos="0 0 .16"><freejoint/><geom name="ball" size=".05"/></body>'
GEOM_SDF = int(cardan.mjtGeom.mjGEOM_SDF)
decomposed_by_the_library = decompose._decompose
needs_library = pytest.mark.skipif(find_spec("coacd") is None, reason="coacd isn't installed (cardan[decompose])")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache on disk and in memory; kernels come from the usual one."""
    monkeypatch.setattr(decompose, "_kept", type(decompose._kept)())
    usual = decompose.store._path

    def path(name, key):
        return tmp_path / f"{name}-{key}.o" if name == decompose.NAME else usual(name, key)

    monkeypatch.setattr(decompose.store, "_path", path)
    return tmp_path


@pytest.fixture
def library(monkeypatch):
    """Stands for the library: knows the pieces of the channel. The list has the parameters of all calls."""
    calls = []

    def decomposed(vertex, face, threshold, maxpieces, waiting):
        calls.append((threshold, maxpieces))
        waiting()
        return nonconvex.pieces(vertex)

    monkeypatch.setattr(decompose, "_decompose", decomposed)
    return calls


def fixed(text):
    """The model with the channel fixed to the world."""
    return text.replace("<freejoint/><geom name=", "<geom name=", 1)


def opened(text):
    """The model without the first triangle of the channel."""
    at = text.index('face="') + 6
    return text[:at] + text[at:].split(" ", 3)[3]


def rested(m, steps=600):
    d = cardan.MjData(m)
    cardan.mj_step(m, d, steps)
    return d


def test_pieces_are_ordinary_geoms_after_the_whole(library):
    geom = 'contype="3" conaffinity="5" condim="4" group="2" friction=".3 .02 .01" margin=".01" rgba=".1 .2 .3 1"'
    m = load_string(nonconvex.model(geom=geom, inside=BALL))
    assert m.geom_piece.tolist() == [0, 0, 1, 2, 3, 0]
    assert [m.geom(k).name for k in range(m.ngeom)] == ["ground", "u", "u@1", "u@2", "u@3", "ball"]
    assert [m.mesh(k).name for k in range(m.nmesh)] == ["u", "u@1", "u@2", "u@3"]
    assert m.geom_dataid.tolist() == [-1, 0, 1, 2, 3, -1]
    assert m.geom_contype[1:5].tolist() == [0, 3, 3, 3] and m.geom_conaffinity[1:5].tolist() == [0, 5, 5, 5]
    for field in ("condim", "group", "friction", "margin", "solref", "solimp", "bodyid"):
        rows = getattr(m, f"geom_{field}")[1:5]
        assert (rows == rows[0]).all(), field
    assert_allclose(m.geom_rgba[1:5], [[0.1, 0.2, 0.3, a] for a in (1, 0, 0, 0)], rtol=1e-6)
    assert m.body_geomnum.tolist() == [1, 4, 1] and m.mesh_graphadr[0] == -1 and (m.mesh_graphadr[1:] >= 0).all()


def test_the_command_line_reports_the_number_of_pieces(library):
    meshes = nonconvex.mesh('convex="decompose"', "v") + "</asset>"
    inside = '<geom type="mesh" mesh="v"/><geom type="mesh" mesh="u" pos="3 0 0"/>'
    m = load_string(nonconvex.model(inside=inside).replace("</asset>", meshes))
    assert piece_counts(m) == {"u": 3, "v": 3}
    assert piece_counts(load_string(nonconvex.model('convex="hull"'))) == {}


@pytest.mark.parametrize("version", ["3.1", "4.0"])
def test_pieces_are_where_the_mesh_is(library, version):
    turned = 'pos=".1 .2 .3" euler="20 30 40"'
    moved = 'convex="decompose" refpos=".1 0 0" refquat="1 .5 0 0" scale="2 1 -1" inertia="exact"'
    m = cardan.MjModel.from_xml_string(nonconvex.model(moved, geom=turned), compat=version)
    d = cardan.MjData(m)
    cardan.mj_kinematics(m, d)
    corners = []
    for geom in range(1, m.ngeom):
        mesh = m.geom_dataid[geom]
        vertex = m.mesh_vert[m.mesh_vertadr[mesh] :][: m.mesh_vertnum[mesh]]
        corners.append(d.geom_xpos[geom] + vertex @ d.geom_xmat[geom].reshape(3, 3).T)
    whole, *parts = corners
    assert len(parts) == 3
    apart = np.linalg.norm(np.concatenate(parts)[:, None] - whole[None], axis=2)
    assert apart.min(axis=1).max() < 1e-6 and apart.min(axis=0).max() < 1e-6


def test_mass_and_inertia_are_those_of_the_mesh(library):
    exact = '<compiler exactmeshinertia="true"/>'
    m, hull = (load_string(nonconvex.model(f'convex="{word}"', more=exact)) for word in ("decompose", "hull"))
    for field in ("mass", "inertia", "ipos", "iquat", "sameframe", "simple"):
        assert (getattr(m, f"body_{field}") == getattr(hull, f"body_{field}")).all(), field
    assert_allclose(m.body_mass[1], 1000 * nonconvex.VOLUME, rtol=1e-5)
    for field in ("extent", "meansize", "meanmass", "meaninertia", "center"):
        assert np.all(getattr(m.stat, field) == getattr(hull.stat, field)), field


@pytest.mark.parametrize(("word", "height"), [("hull", 0.45), ("decompose", 0.15), ("exact", 0.15)])
def test_a_ball_falls_into_the_channel(library, word, height):
    m = load_string(fixed(nonconvex.model(f'convex="{word}"', inside=BALL.replace(".16", ".5"))))
    d = rested(m, 1500)
    assert_allclose(d.body("ball").xpos[2], height + 0.01, atol=0.003)


def test_contacts_name_pieces(library):
    m = load_string(nonconvex.model(inside=BALL))
    d = rested(m)
    touched = set((d.contact.geom - m.geom_piece[d.contact.geom]).ravel().tolist())
    assert touched == {0, 1, 5}
    assert 1 not in d.contact.geom


@pytest.mark.parametrize("opaque", [False, True])
def test_rays_and_pictures_see_the_whole_once(library, opaque):
    m = load_string(nonconvex.model())
    if opaque:  # as by programs that change the colours of all geoms
        m.geom_rgba[:] = 1.0
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    geom = np.zeros(1, np.int32)
    down = np.array([0.0, 0, -1])
    inside = cardan.mj_ray(m, d, np.array([0.0, 0, 1]), down, None, 1, -1, geom)
    assert geom[0] == 1 and inside == pytest.approx(0.89, abs=1e-6)
    option, scene = cardan.MjvOption(), cardan.MjvScene(m, 100)
    shown = []
    for flag in (0, 1):
        option.flags[cardan.mjtVisFlag.mjVIS_CONVEXHULL] = flag
        cardan.mjv_updateScene(m, d, option, None, cardan.MjvCamera(), cardan.mjtCatBit.mjCAT_ALL, scene)
        shown.append([(g.objid, g.dataid) for g in scene.geoms[: scene.ngeom] if g.objid > 0])
        assert all(g.rgba[3] == 1 for g in scene.geoms[: scene.ngeom])
    assert shown == [[(1, 0)], [(2, 3), (3, 5), (4, 7)]]


def test_distances_are_those_of_the_pieces(library):
    sensors = """<sensor><distance geom1="ball" geom2="u" cutoff="1"/><distance body1="tub" body2="ball" cutoff="1"/>
    </sensor></mujoco>"""
    text = nonconvex.model(inside=BALL.replace(".16", ".2")).replace("</mujoco>", sensors)
    m = load_string(text)
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    points = np.zeros(6)
    assert cardan.mj_geomDistance(m, d, 1, 5, 1.0, points) == pytest.approx(0.04, abs=1e-6)
    assert_allclose(points[[2, 5]], [0.11, 0.15], atol=1e-6)
    assert cardan.mj_geomDistance(m, d, 5, 1, 1.0, points) == pytest.approx(0.04, abs=1e-6)
    assert_allclose(d.sensordata, 0.04, atol=1e-6)


def test_explicit_pairs_hold_for_all_pieces(library):
    pairs = """<contact><pair name="p" geom1="ball" geom2="u" condim="1"/><exclude body1="tub" body2="world"/>
    </contact></mujoco>"""
    text = nonconvex.model(geom='contype="0" conaffinity="0"', inside=BALL).replace("</mujoco>", pairs)
    m = load_string(text)
    assert m.pair_geom1.tolist() == [2, 3, 4] and (m.pair_geom2 == 5).all() and (m.pair_dim == 1).all()
    assert [m.pair(k).name for k in range(m.npair)] == ["p", "", ""]
    assert cardan.MjModel.from_xml_string(m.to_xml()).pair_geom1.tolist() == [2, 3, 4]
    again = m.to_xml()
    assert again.count("<pair") == 1 and again.count("<exclude") == 1


def test_saving_keeps_the_one_mesh(library, cache):
    text = nonconvex.model(
        'convex="decompose" threshold="0.1" maxpieces="7"', geom='contype="3" rgba="1 0 0 1"', inside=BALL
    )
    unnamed = text.replace('<geom name="u"', "<geom").replace('<geom name="ball"', "<geom")
    for source in (text, unnamed):
        m = load_string(source)
        saved = m.to_xml()
        assert saved.count("<mesh") == 1 and saved.count("<geom") == 3 and "@" not in saved
        assert 'convex="decompose" threshold="0.1" maxpieces="7"' in saved and 'contype="3"' in saved
        again = load_string(saved)
        assert again.to_xml() == saved
        for field in ("geom_piece", "geom_contype", "geom_dataid", "geom_rgba", "body_mass"):
            assert (getattr(again, field) == getattr(m, field)).all(), field
        assert_allclose(again.geom_pos, m.geom_pos, atol=1e-12)


def test_the_map_of_pieces_is_copied_with_the_model(library):
    m = load_string(nonconvex.model())
    for copy in (pickle.loads(pickle.dumps(m)), m.__copy__()):
        assert copy.geom_piece.tolist() == m.geom_piece.tolist()


@pytest.mark.parametrize("word", ["discardvisual", "fusestatic"])
def test_reductions_keep_pieces(library, word):
    tree = '<body pos="0 0 1"><body pos="0 .1 0" euler="0 0 90"><geom type="mesh" mesh="u"/></body></body>'
    moving = '<body><freejoint/><geom size=".1"/><geom type="mesh" mesh="u" contype="0" conaffinity="0"/></body>'
    text = f"""<mujoco><compiler WORD/><asset>{nonconvex.mesh('convex="decompose"')}</asset>
    <worldbody>{tree}{moving}</worldbody></mujoco>"""
    m = load_string(text.replace("WORD", f'{word}="true"'))
    plain = load_string(text.replace("WORD", ""))
    assert (m.geom_piece > 0).sum() == (plain.geom_piece > 0).sum() == 3
    assert_allclose(m.body_mass[-1], plain.body_mass[-1])
    places = []
    for model in (m, plain):
        d = cardan.MjData(model)
        cardan.mj_forward(model, d)
        places.append(d.geom_xpos[model.geom_piece > 0])
    assert_allclose(places[0], places[1], atol=1e-9)


def test_copies_of_bodies_have_pieces_of_their_own(library):
    inside = (
        '<replicate count="3" offset="2 0 0"><body><freejoint/><geom name="r" type="mesh" mesh="u"/></body></replicate>'
    )
    m = load_string(nonconvex.model(inside=inside))
    assert (m.geom_piece > 0).sum() == 12 and m.nmesh == 4
    assert m.body_geomnum.tolist() == [1, 4, 4, 4, 4]


def test_only_geoms_that_collide_have_pieces(library):
    m = load_string(nonconvex.model(geom='contype="0" conaffinity="0"'))
    assert m.ngeom == 2 and not library
    both = nonconvex.model(inside='<geom type="mesh" mesh="u" contype="0" conaffinity="0"/><geom type="box" mesh="u"/>')
    assert load_string(both).geom_piece.tolist() == [0, 0, 0, 0, 1, 2, 3]


def test_a_single_piece_is_the_hull(monkeypatch):
    monkeypatch.setattr(decompose, "_decompose", lambda vertex, *_: nonconvex.pieces(vertex, nonconvex.PARTS[:1]))
    m = load_string(nonconvex.model())
    assert m.ngeom == 2 and m.geom_contype.all() and m.mesh_graphadr[0] >= 0


def test_points_without_faces_are_convex(library):
    text = nonconvex.model()
    cloud = text[: text.index("face=")] + text[text.index("convex=") :]
    assert load_string(cloud).ngeom == 2 and not library


def test_the_default_class_may_ask_for_pieces(library):
    default = '<default><mesh convex="decompose" threshold=".2"/></default>'
    m = load_string(nonconvex.model("", more=default))
    assert m.ngeom == 5 and library == [(0.2, -1)]
    assert load_string(m.to_xml()).ngeom == 5


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ('convex="decompose" threshold="0"', "threshold: must be from 0.01 to 1, found 0"),
        ('convex="decompose" threshold="2"', "threshold: must be from 0.01 to 1, found 2"),
        ('convex="decompose" maxpieces="0"', "maxpieces: must be at least 1, or -1 for no limit, found 0"),
        ('convex="parts"', "convex: 'parts' is not one of"),
    ],
)
def test_refused(library, attributes, words):
    with pytest.raises(MjcfError, match="<mesh") as caught:
        load_string(nonconvex.model(attributes))
    assert words in str(caught.value)


def test_names_of_pieces_are_reserved(library):
    text = nonconvex.model().replace("</asset>", nonconvex.mesh(name="u@2") + "</asset>")
    with pytest.raises(MjcfError, match="'u@2' of another mesh is reserved"):
        load_string(text)


def test_names_of_geoms_of_pieces_are_reserved(library):
    with pytest.raises(MjcfError, match="<geom name='u'> name: the name 'u@2' of another geom is reserved"):
        load_string(nonconvex.model().replace("<worldbody>", '<worldbody><geom name="u@2" size="1"/>', 1))


# --- the library and the cache ----------------------------------------------------------------------------------------


def test_pieces_are_cached_by_content(library, cache):
    load_string(nonconvex.model())
    load_string(nonconvex.model(geom='pos="1 2 3"', inside=BALL))
    assert len(library) == 1
    decompose._kept.clear()  # another process
    load_string(nonconvex.model())
    assert len(library) == 1 and len([*cache.glob("pieces-*.o")]) == 1
    load_string(nonconvex.model('convex="decompose" threshold="0.2"'))
    load_string(nonconvex.model('convex="decompose" scale="1 1 2"'))
    assert library == [(0.05, -1), (0.2, -1), (0.05, -1)] and len([*cache.glob("pieces-*.o")]) == 3


def test_the_library_gets_faces_that_point_outwards(monkeypatch):
    volumes = []

    def decomposed(vertex, face, *_):
        volumes.append(signed_volume(vertex[face]))
        return nonconvex.pieces(vertex)

    monkeypatch.setattr(decompose, "_decompose", decomposed)
    for scale in ("1 1 1", "1 -1 1"):
        load_string(nonconvex.model(f'convex="decompose" scale="{scale}"'))
    assert_allclose(volumes, nonconvex.VOLUME, rtol=1e-5)


def test_a_damaged_file_is_made_again(library, cache):
    load_string(nonconvex.model())
    (file,) = cache.glob("pieces-*.o")
    file.write_bytes(file.read_bytes()[:-7])
    decompose._kept.clear()
    assert load_string(nonconvex.model()).ngeom == 5 and len(library) == 2


def test_pieces_of_another_version_of_the_library_are_made_again(library, monkeypatch):
    for number, (version, calls) in enumerate((("1.0", 1), ("1.0", 1), ("1.1", 2), ("", 2), ("1.1", 2))):
        monkeypatch.setattr(decompose, "_installed", lambda version=version: version)
        decompose._kept.clear()
        assert load_string(nonconvex.model()).ngeom == 5
        assert len(library) == calls, number


def test_without_the_library_the_error_names_the_extra(monkeypatch):
    monkeypatch.setattr(decompose, "find_spec", lambda name: None)
    with pytest.raises(
        MjcfError, match=r"<mesh name='u'> convex: .*coacd.*not installed: pip install 'cardan\[decompose\]'"
    ):
        load_string(nonconvex.model())


def test_cached_pieces_need_no_library(library, monkeypatch):
    load_string(nonconvex.model())
    decompose._kept.clear()
    monkeypatch.setattr(decompose, "find_spec", lambda name: None)
    monkeypatch.setattr(decompose, "_installed", lambda: "")
    monkeypatch.setattr(decompose, "_decompose", decomposed_by_the_library)
    assert load_string(nonconvex.model()).ngeom == 5
    with pytest.raises(MjcfError, match="not installed"):
        load_string(nonconvex.model('convex="decompose" threshold="0.5"'))


@needs_library
def test_the_library_makes_convex_pieces():
    m = load_string(nonconvex.model())
    assert 3 <= m.geom_piece.max() <= 6
    d = rested(load_string(nonconvex.model(inside=BALL)))
    assert_allclose(d.body("ball").xpos[2], 0.15, atol=0.005)
    few = load_string(nonconvex.model('convex="decompose" maxpieces="2"'))
    assert few.geom_piece.max() == 2


@needs_library
def test_an_interruption_ends_the_process(monkeypatch):
    started = []
    popen = decompose.subprocess.Popen

    def start(*args, **kwargs):
        started.append(popen(*args, **kwargs))
        return started[0]

    monkeypatch.setattr(decompose.subprocess, "Popen", start)
    monkeypatch.setattr(decompose, "INTERVAL", 0.01)

    def waiting():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        decompose.convex_pieces(*nonconvex.channel(), 0.01, -1, waiting)
    assert started[0].poll() is not None
    assert not decompose._kept


@needs_library
def test_a_failure_of_the_library_is_an_error():
    with pytest.raises(decompose.DecompositionError, match="coacd fails"):
        decompose._decompose(np.zeros((3, 2)), np.array([[0, 1, 2]]), 0.05, -1, lambda: None)


# --- exact distances --------------------------------------------------------------------------------------------------


def test_exact_geoms_collide_by_distances():
    m = load_string(nonconvex.model('convex="exact"', inside=BALL))
    assert m.geom_type[1] == GEOM_SDF and m.ngeom == 3 and m.nplugin == 1
    assert m.geom_plugin.tolist() == [-1, 0, -1]
    hull = load_string(nonconvex.model('convex="hull"', inside=BALL))
    assert (m.body_inertia == hull.body_inertia).all() and m.body_geomnum.tolist() == hull.body_geomnum.tolist()
    d = rested(m)
    assert_allclose(d.body("ball").xpos[2], 0.15, atol=0.003)


def test_distances_of_mirrored_meshes():
    text = nonconvex.model('convex="exact" scale="-1 1 1"', inside=BALL)
    assert_allclose(rested(load_string(fixed(text))).body("ball").xpos[2], 0.16, atol=0.003)


def test_saving_keeps_exact_geoms_of_type_mesh():
    m = load_string(nonconvex.model('convex="exact"', inside=BALL))
    saved = m.to_xml()
    assert 'type="mesh"' in saved and "plugin" not in saved and "sdf" not in saved
    again = load_string(saved)
    assert again.geom_type.tolist() == m.geom_type.tolist() and again.to_xml() == saved


def test_two_exact_meshes_of_several_geoms():
    text = nonconvex.model(
        'convex="exact"', inside='<geom type="mesh" mesh="v"/><geom type="mesh" mesh="v" pos="3 0 0"/>'
    )
    m = load_string(text.replace("</asset>", nonconvex.mesh('convex="exact"', "v") + "</asset>"))
    assert m.nplugin == 2 and sorted(m.geom_plugin.tolist()) == [-1, 0, 1, 1]


def test_exact_distances_need_a_closed_mesh():
    with pytest.warns(UserWarning, match="<mesh name='u'> convex: the mesh is not closed"):
        load_string(opened(nonconvex.model('convex="exact"')))


# --- the warning ------------------------------------------------------------------------------------------------------

LARGE = r"meshes collide by their convex hulls, whose volumes are much larger: 'u' \(2\.0 times\)"


def test_a_hull_much_larger_than_its_mesh_is_reported():
    with pytest.warns(UserWarning, match=LARGE):
        load_string(nonconvex.model(""))
    with pytest.warns(UserWarning, match=LARGE):
        load_string(nonconvex.model('scale="2 3 -4"'))


@pytest.mark.parametrize(
    ("attributes", "geom"),
    [('convex="hull"', ""), ('convex="exact"', ""), ("", 'contype="0" conaffinity="0"'), ("", 'type="box"')],
)
def test_no_warning_where_it_does_not_help(attributes, geom):
    text = nonconvex.model(attributes, geom=geom)
    if geom.startswith("type"):
        text = text.replace('type="mesh" ', "")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_string(text)


def test_no_warning_for_open_meshes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_string(opened(nonconvex.model("")))


# --- programs ---------------------------------------------------------------------------------------------------------


def test_a_program_can_build_such_a_mesh(library):
    vertex, face = nonconvex.channel()
    spec = cardan.MjSpec()
    mesh = spec.add_mesh()
    mesh.name, mesh.uservert, mesh.userface = "u", vertex.ravel(), face.ravel()
    mesh.convex, mesh.threshold, mesh.maxpieces = "decompose", 0.1, 5
    geom = spec.worldbody.add_body().add_geom()
    geom.type, geom.meshname = cardan.mjtGeom.mjGEOM_MESH, "u"
    other = spec.worldbody.add_body().add_geom(size=[0.1, 0, 0])
    m = spec.compile()
    assert (geom.id, other.id, mesh.id) == (0, 4, 0)
    assert m.geom_piece.tolist() == [0, 1, 2, 3, 0] and library == [(0.1, 5)]
    assert 'maxpieces="5"' in spec.to_xml()


def test_batches_and_derivatives_see_ordinary_geoms(library):
    m = load_string(fixed(nonconvex.model(inside=BALL)))
    d = cardan.MjData(m)
    cardan.mj_step(m, d, 50)
    assert d.ncon
    batch = cardan.Batch(m, 2)
    batch.step(50)
    assert_allclose(np.asarray(batch.qpos)[1], d.qpos, atol=1e-9)
    assert (np.asarray(batch.data(1).contact.geom) == d.contact.geom).all()
    by_rules, by_differences = np.zeros((2, 2 * m.nv, 2 * m.nv))
    cardan.mjd_transition(m, d, by_rules, None, None, None)
    cardan.mjd_transitionFD(m, d, 1e-7, True, by_differences, None, None, None)
    assert_allclose(by_rules, by_differences, atol=1e-3 * np.abs(by_differences).max())
