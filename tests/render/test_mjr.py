"""The functions mjr_*: buffers, rectangles, text, figures."""

import weakref

import numpy as np
import pytest

import cardan

SCALE = cardan.mjtFontScale.mjFONTSCALE_100


@pytest.fixture
def context():
    model = cardan.MjModel.from_xml_string(
        '<mujoco><visual><global offwidth="80" offheight="60"/></visual><asset><texture name="t" type="2d" '
        'builtin="flat" width="4" height="4"/></asset><worldbody><geom size=".1"/></worldbody></mujoco>'
    )
    context = cardan.MjrContext(model, SCALE)
    cardan.mjr_setBuffer(cardan.mjtFramebuffer.mjFB_OFFSCREEN, context)
    yield context
    context.free()


def pixels(context):
    full = cardan.mjr_maxViewport(context)
    rgb = np.zeros((full.height, full.width, 3), np.uint8)
    cardan.mjr_readPixels(rgb, None, full, context)
    return rgb


def test_rectangles(context):
    assert pixels(context).shape == (60, 80, 3)
    cardan.mjr_rectangle(cardan.MjrRect(10, 20, 5, 6), 1, 0, 0, 1)
    cardan.mjr_rectangle(cardan.MjrRect(-5, -5, 10, 10), 0, 1, 0, 0.5)  # partly outside
    rgb = pixels(context)
    assert rgb[..., 0].sum() == 255 * 30 and (rgb[20:26, 10:15, 0] == 255).all()
    assert (rgb[:5, :5, 1] == 128).all() and rgb[..., 1].sum() == 128 * 25


def test_pixels_there_and_back(context):
    rect = cardan.MjrRect(3, 4, 6, 5)
    rng = np.random.default_rng(0)
    rgb, depth = rng.integers(0, 255, (5, 6, 3), np.uint8), rng.random((5, 6), np.float32)
    cardan.mjr_drawPixels(rgb, depth, rect, context)
    read, read_depth = np.zeros(90, np.uint8), np.zeros((5, 6), np.float32)
    cardan.mjr_readPixels(read, read_depth, rect, context)
    np.testing.assert_array_equal(read, rgb.ravel())
    np.testing.assert_array_equal(read_depth, depth)
    with pytest.raises(ValueError, match="should have 90 numbers"):
        cardan.mjr_readPixels(read[:80], None, rect, context)
    with pytest.raises(TypeError, match="uint8"):
        cardan.mjr_readPixels(read.astype(float), None, rect, context)


def test_buffers(context):
    cardan.mjr_addAux(2, 30, 20, 0, context)
    cardan.mjr_setAux(2, context)
    cardan.mjr_rectangle(cardan.MjrRect(0, 0, 30, 20), 0, 0, 1, 1)
    cardan.mjr_restoreBuffer(context)
    assert not pixels(context).any()
    cardan.mjr_blitAux(2, cardan.MjrRect(0, 0, 10, 10), 7, 8, context)
    assert (pixels(context)[8:18, 7:17, 2] == 255).all() and pixels(context).sum() == 255 * 100
    with pytest.raises(cardan.FatalError, match="does not exist"):
        cardan.mjr_setAux(1, context)
    with pytest.raises(cardan.FatalError, match="Invalid aux"):
        cardan.mjr_addAux(10, 5, 5, 0, context)
    cardan.mjr_resizeOffscreen(20, 10, context)
    assert pixels(context).shape == (10, 20, 3)


def test_text_and_overlays(context):
    cardan.mjr_text(cardan.mjtFont.mjFONT_NORMAL, "Cardan", context, 0.1, 0.1, 1, 1, 1)
    written = pixels(context)
    assert written.max() == 255 and written[:3].max() == 0
    full = cardan.mjr_maxViewport(context)
    cardan.mjr_overlay(cardan.mjtFont.mjFONT_NORMAL, cardan.mjtGridPos.mjGRID_TOPRIGHT, full, "a", "1", context)
    assert pixels(context)[-20:, 40:].max() > 200
    cardan.mjr_label(cardan.MjrRect(0, 0, 40, 15), 0, "x", 1, 0, 0, 1, 0, 0, 1, context)
    label = pixels(context)[:15, :40]
    assert (label[0, 0] == (255, 0, 0)).all() and label[..., 2].max() > 100


def test_figure(context):
    figure = cardan.MjvFigure()
    figure.flg_ticklabel[:] = 0
    figure.flg_legend = 0
    figure.linepnt[0] = 2
    figure.linedata[0][:4] = 0, 0, 1, 1
    figure.linergb[0] = 1, 0, 0
    cardan.mjr_figure(cardan.MjrRect(0, 0, 80, 60), figure, context)
    red = (pixels(context) == (255, 0, 0)).all(-1)
    rows, columns = np.nonzero(red)
    assert red.any() and np.corrcoef(rows, columns)[0, 1] > 0.99  # a rising line
    assert figure.xaxispixel[1] > figure.xaxispixel[0] and tuple(figure.xaxisdata) == (0, 1)


def test_nothing_to_draw_with():
    empty = cardan.MjrContext()
    scene = cardan.MjvScene()
    with pytest.raises(cardan.FatalError, match="is empty"):
        cardan.mjr_render(cardan.MjrRect(0, 0, 5, 5), scene, empty)
    with pytest.raises(cardan.FatalError, match="fontscale"):
        cardan.MjrContext(cardan.MjModel.from_xml_string("<mujoco/>"), 77)


def test_what_is_no_structure(context):
    rect = cardan.MjrRect(0, 0, 4, 4)
    calls = {
        cardan.mjr_render: (rect, cardan.MjvScene(), context),
        cardan.mjr_rectangle: (rect, 0, 0, 0, 1),
        cardan.mjr_text: (0, "text", context, 0, 0, 0, 0, 0),
        cardan.mjr_figure: (rect, cardan.MjvFigure(), context),
        cardan.mjr_setBuffer: (0, context),
        cardan.mjr_uploadMesh: (context.model, context, 0),
    }
    for function, arguments in calls.items():
        for k, value in enumerate(arguments):
            if isinstance(value, int):
                continue
            for wrong in (None, 3, object()):
                with pytest.raises(TypeError, match=f"{function.__name__}: .* should be of type"):
                    function(*arguments[:k], wrong, *arguments[k + 1 :])
    with pytest.raises(TypeError, match="missing 1 required"):
        cardan.mjr_setBuffer(0)
    for make in (cardan.MjrContext, cardan.MjvScene, cardan.Renderer):
        with pytest.raises(TypeError, match="must be an MjModel"):
            make("model", 100)


def test_uploads(context):
    model = context.model
    cardan.mjr_uploadTexture(model, context, 0)
    with pytest.raises(cardan.FatalError, match="Invalid texture index 1"):
        cardan.mjr_uploadTexture(model, context, 1)
    with pytest.raises(cardan.FatalError, match="Invalid mesh index 0"):
        cardan.mjr_uploadMesh(model, context, 0)
    assert cardan.mjr_findRect(3, 3, 2, [cardan.MjrRect(0, 0, 2, 2), cardan.MjrRect(2, 2, 4, 4)]) == 1
    assert cardan.mjr_getError() == 0


def test_a_context_lives_as_long_as_it_is_kept():
    model = cardan.MjModel.from_xml_string("<mujoco><worldbody><geom size='.1'/></worldbody></mujoco>")
    context = cardan.MjrContext(model, SCALE)
    reference = weakref.ref(context)
    del context
    assert reference() is None
    with pytest.raises(cardan.FatalError, match="no rendering context in this thread"):
        cardan.mjr_rectangle(cardan.MjrRect(0, 0, 1, 1), 1, 0, 0, 1)
