"""Enumerations of the renderer (`mjr`) and of user-interface events (`mjui`)."""

from cardan.enums.base import MjEnum


class mjtGridPos(MjEnum):
    """Position of an overlay in the window."""

    mjGRID_TOPLEFT = 0
    mjGRID_TOPRIGHT = 1
    mjGRID_BOTTOMLEFT = 2
    mjGRID_BOTTOMRIGHT = 3
    mjGRID_TOP = 4
    mjGRID_BOTTOM = 5
    mjGRID_LEFT = 6
    mjGRID_RIGHT = 7


class mjtFramebuffer(MjEnum):
    """Framebuffer that the renderer draws to."""

    mjFB_WINDOW = 0
    mjFB_OFFSCREEN = 1


class mjtDepthMap(MjEnum):
    """Mapping of the depth that `mjr_readPixels` returns."""

    mjDEPTH_ZERONEAR = 0  # 0 near, 1 far
    mjDEPTH_ZEROFAR = 1  # 1 near, 0 far


class mjtFontScale(MjEnum):
    """Font scale in per cent, chosen when a rendering context is made."""

    mjFONTSCALE_50 = 50
    mjFONTSCALE_100 = 100
    mjFONTSCALE_150 = 150
    mjFONTSCALE_200 = 200
    mjFONTSCALE_250 = 250
    mjFONTSCALE_300 = 300


class mjtFont(MjEnum):
    """Font of a text overlay."""

    mjFONT_NORMAL = 0
    mjFONT_SHADOW = 1
    mjFONT_BIG = 2


class mjtButton(MjEnum):
    """Mouse buttons."""

    mjBUTTON_NONE = 0
    mjBUTTON_LEFT = 1
    mjBUTTON_RIGHT = 2
    mjBUTTON_MIDDLE = 3


class mjtEvent(MjEnum):
    """Types of mouse, keyboard and window events."""

    mjEVENT_NONE = 0
    mjEVENT_MOVE = 1
    mjEVENT_PRESS = 2
    mjEVENT_RELEASE = 3
    mjEVENT_SCROLL = 4
    mjEVENT_KEY = 5
    mjEVENT_RESIZE = 6
    mjEVENT_REDRAW = 7
    mjEVENT_FILESDROP = 8


class mjtItem(MjEnum):
    """Types of user-interface items."""

    mjITEM_END = -2  # end of a list of items
    mjITEM_SECTION = -1  # heading of a section
    mjITEM_SEPARATOR = 0
    mjITEM_STATIC = 1
    mjITEM_BUTTON = 2
    mjITEM_CHECKINT = 3
    mjITEM_CHECKBYTE = 4
    mjITEM_RADIO = 5
    mjITEM_RADIOLINE = 6
    mjITEM_SELECT = 7
    mjITEM_SLIDERINT = 8
    mjITEM_SLIDERNUM = 9
    mjITEM_EDITINT = 10
    mjITEM_EDITNUM = 11
    mjITEM_EDITFLOAT = 12
    mjITEM_EDITTXT = 13
    mjNITEM = 14  # number of item types
