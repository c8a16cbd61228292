"""Tables of the structures of the abstract scene, named as in MuJoCo (spec: simulation, visualization)."""

from __future__ import annotations

import numpy as np

from cardan.enums import mjtGeom, mjtRndFlag, mjtVisFlag
from cardan.enums.base import MjEnum
from cardan.visual.record import Member

NGROUP = 6
"""Number of groups of geoms, sites, joints, ... that can be shown or hidden."""
MAXLIGHT = 100
"""Largest number of lights in a scene."""
MAXLINE, MAXLINEPNT = 100, 1001
"""Largest number of lines in a figure, and of points in a line (1000 in a process with compat 3.1)."""
NAUX = 10
"""Number of auxiliary buffers of a context."""

SHOWN_GROUPS = (1, 1, 1, 0, 0, 0)
SHOWN = ("TEXTURE", "TENDON", "RANGEFINDER", "PERTOBJ", "ISLAND", "STATIC", "SKIN", "FLEXSKIN")
RENDERED = ("SHADOW", "REFLECTION", "SKYBOX", "HAZE", "CULL_FACE")


def _bytes(names: tuple[str, ...], enumeration: type[MjEnum]) -> tuple[int, ...]:
    """Return a byte for each flag of an enumeration: 1 for the flags in `names`. The last member, a count, has none."""
    flags = [name.split("_", 1)[-1] for name in list(enumeration.__members__)[:-1]]
    return tuple(int(flag in names) for flag in flags)


CAMERA = (
    Member("type", "i4", (), "how the camera is controlled (mjtCamera)"),
    Member("fixedcamid", "i4", (), "id of the camera of the model, if fixed", -1),
    Member("trackbodyid", "i4", (), "id of the tracked body, if tracking", -1),
    Member("lookat", "f8", (3,), "point at which the camera looks, world frame, m"),
    Member("distance", "f8", (), "distance to `lookat` or to the tracked body, m", 2.0),
    Member("azimuth", "f8", (), "azimuth, degrees", 90.0),
    Member("elevation", "f8", (), "elevation, degrees", -45.0),
    Member("orthographic", "i4", (), "whether a free or tracking camera is orthographic", since="3.2.0"),
)
GL_CAMERA = (
    Member("pos", "f4", (3,), "position, m"),
    Member("forward", "f4", (3,), "unit vector of the viewing direction"),
    Member("up", "f4", (3,), "unit vector that is up in the picture"),
    Member("frustum_center", "f4", (), "horizontal centre of the near plane, m"),
    Member("frustum_width", "f4", (), "half width of the near plane, m; 0: from the viewport"),
    Member("frustum_bottom", "f4", (), "lower edge of the near plane, m"),
    Member("frustum_top", "f4", (), "upper edge of the near plane, m"),
    Member("frustum_near", "f4", (), "distance of the near plane, m"),
    Member("frustum_far", "f4", (), "distance of the far plane, m"),
    Member("orthographic", "i4", (), "whether the projection is orthographic, not perspective", since="3.2.0"),
)
LIGHT = (
    Member("pos", "f4", (3,), "position, world frame, m"),
    Member("dir", "f4", (3,), "direction, world frame"),
    Member("attenuation", "f4", (3,), "constant, linear and quadratic attenuation"),
    Member("cutoff", "f4", (), "half angle of the cone, degrees"),
    Member("exponent", "f4", (), "exponent of the decrease away from the axis"),
    Member("ambient", "f4", (3,), "ambient colour"),
    Member("diffuse", "f4", (3,), "diffuse colour"),
    Member("specular", "f4", (3,), "specular colour"),
    Member("headlight", "u1", (), "whether the light moves with the camera"),
    Member("directional", "u1", (), "whether the light's rays are parallel"),
    Member("castshadow", "u1", (), "whether the light casts shadows"),
    Member("bulbradius", "f4", (), "radius of the bulb, for soft shadows, m"),
)
GEOM = (
    Member("type", "i4", (), "shape (mjtGeom)", int(mjtGeom.mjGEOM_NONE)),
    Member("dataid", "i4", (), "id of the mesh, height field or plane, or -1", -1),
    Member("objtype", "i4", (), "kind of object that the geom shows (mjtObj)"),
    Member("objid", "i4", (), "id of the object that the geom shows, or -1"),
    Member("category", "i4", (), "static, dynamic or decoration (mjtCatBit)"),
    Member("texid", "i4", (), "id of the texture, or -1", -1),
    Member("texuniform", "i4", (), "whether a cube texture is mapped uniformly"),
    Member("texcoord", "i4", (), "whether the mesh has texture coordinates"),
    Member("segid", "i4", (), "number in segmentation images, or -1"),
    Member("texrepeat", "f4", (2,), "repetitions of a flat texture", 1.0),
    Member("size", "f4", (3,), "size parameters of the shape, m", 0.1),
    Member("pos", "f4", (3,), "position, world frame, m"),
    Member("mat", "f4", (3, 3), "orientation, world frame", np.eye(3)),
    Member("rgba", "f4", (4,), "colour and opacity", (0.5, 0.5, 0.5, 1.0)),
    Member("emission", "f4", (), "emission"),
    Member("specular", "f4", (), "specularity", 0.5),
    Member("shininess", "f4", (), "shininess", 0.5),
    Member("reflectance", "f4", (), "reflectance"),
    Member("label", "S100", (), "text beside the geom"),
    Member("camdist", "f4", (), "distance from the camera, for sorting, m"),
    Member("modelrbound", "f4", (), "bounding radius of the geom of the model, or 0, m"),
    Member("matid", "i4", (), "id of the material, or -1 without one and if textures are hidden", -1, since="4.0.0"),
    Member("transparent", "u1", (), "whether the geom is drawn as transparent"),
    Member("castshadow", "u1", (), "whether the geom casts shadows", 1, since="4.0.0"),
)
OPTION = (
    Member("label", "i4", (), "kind of objects that get labels (mjtLabel)"),
    Member("frame", "i4", (), "kind of objects whose frames are shown (mjtFrame)"),
    *(
        Member(f"{kind}group", "u1", (NGROUP,), f"groups of {what} that are shown", SHOWN_GROUPS)
        for kind, what in zip(
            ("geom", "site", "joint", "tendon", "actuator", "flex", "skin"),
            ("geoms", "sites", "joints", "tendons", "actuators", "flexes", "skins"),
            strict=True,
        )
    ),
    Member(
        "flags", "u1", (int(mjtVisFlag.mjNVISFLAG),), "elements that are shown (mjtVisFlag)", _bytes(SHOWN, mjtVisFlag)
    ),
    Member("bvh_depth", "i4", (), "depth at which bounding volumes are shown", 1),
    Member("flex_layer", "i4", (), "layer of elements of solid flexes that is shown"),
)
PERTURB = (
    Member("select", "i4", (), "id of the selected body; none if not positive"),
    Member("flexselect", "i4", (), "id of the selected flex, or -1", -1),
    Member("skinselect", "i4", (), "id of the selected skin, or -1", -1),
    Member("active", "i4", (), "active perturbations (mjtPertBit)"),
    Member("active2", "i4", (), "active perturbations of a second hand (mjtPertBit)"),
    Member("refpos", "f8", (3,), "reference position of the body, world frame, m"),
    Member("refquat", "f8", (4,), "reference orientation of the body, world frame", (1.0, 0.0, 0.0, 0.0)),
    Member("refselpos", "f8", (3,), "reference position of the selected point, world frame, m"),
    Member("localpos", "f8", (3,), "selected point, frame of the body, m"),
    Member("localmass", "f8", (), "inertia at the selected point, kg"),
    Member("scale", "f8", (), "displacement per unit of mouse movement, m", 1.0),
)
FIGURE = (
    Member("flg_legend", "i4", (), "show the legend", 1),
    Member("flg_ticklabel", "i4", (2,), "show labels of the grid, x and y", 1),
    Member("flg_extend", "i4", (), "enlarge ranges so that the data fit", 1),
    Member("flg_barplot", "i4", (), "pairs of points are separate lines"),
    Member("flg_selection", "i4", (), "show the vertical line `selection`"),
    Member("flg_symmetric", "i4", (), "range of y symmetric about 0"),
    Member("linewidth", "f4", (), "width of lines, pixels", 3.0),
    Member("gridwidth", "f4", (), "width of the grid's lines, pixels", 1.0),
    Member("gridsize", "i4", (2,), "lines of the grid, x and y", 2),
    Member("gridrgb", "f4", (3,), "colour of the grid", 0.4),
    Member("figurergba", "f4", (4,), "colour of the background", (0.0, 0.0, 0.0, 1.0)),
    Member("panergba", "f4", (4,), "colour of the pane", (0.0, 0.0, 0.0, 1.0)),
    Member("legendrgba", "f4", (4,), "colour of the legend", (0.0, 0.0, 0.0, 0.3)),
    Member("textrgb", "f4", (3,), "colour of text", 1.0),
    Member("linergb", "f4", (MAXLINE, 3), "colours of the lines"),
    Member("range", "f4", (2, 2), "ranges of x and y; automatic if min >= max", ((0.0, 1.0), (0.0, 1.0))),
    Member("xformat", "S20", (), "format of labels along x", b"%.0f"),
    Member("yformat", "S20", (), "format of labels along y", b"%.2g"),
    Member("minwidth", "S20", (), "text with the minimum width of labels along y", b"XXX"),
    Member("title", "S1000", (), "title; titles of subplots are separated by two blanks"),
    Member("xlabel", "S100", (), "label of x"),
    Member("linename", "S100", (MAXLINE,), "names of the lines, for the legend"),
    Member("legendoffset", "i4", (), "lines by which the legend is moved down"),
    Member("subplot", "i4", (), "the subplot whose title is shown"),
    Member("highlight", "i4", (2,), "point, pixels; the line with this point in its legend is highlighted"),
    Member("highlightid", "i4", (), "line that is highlighted if no legend contains the point `highlight`, or -1", -1),
    Member("selection", "f4", (), "x of the vertical line"),
    Member("linepnt", "i4", (MAXLINE,), "numbers of points of the lines"),
    Member("linedata", "f4", (MAXLINE, 2 * MAXLINEPNT), "points of the lines: x, y, x, y, ..."),
    Member("xaxispixel", "i4", (2,), "range of x, pixels"),
    Member("yaxispixel", "i4", (2,), "range of y, pixels"),
    Member("xaxisdata", "f4", (2,), "range of x, data"),
    Member("yaxisdata", "f4", (2,), "range of y, data"),
)
RECT = (
    Member("left", "i4", (), "left edge, pixels"),
    Member("bottom", "i4", (), "lower edge, pixels"),
    Member("width", "i4", (), "width, pixels"),
    Member("height", "i4", (), "height, pixels"),
)
CONTEXT = (
    Member("lineWidth", "f4", (), "width of lines, pixels"),
    Member("shadowClip", "f4", (), "radius in which directional lights cast shadows, m"),
    Member("shadowScale", "f4", (), "fraction of the cone of a spot light that casts shadows"),
    Member("fogStart", "f4", (), "distance at which fog begins, m"),
    Member("fogEnd", "f4", (), "distance at which fog hides everything, m"),
    Member("fogRGBA", "f4", (4,), "colour of fog"),
    Member("shadowSize", "i4", (), "size of the shadow map, pixels"),
    Member("offWidth", "i4", (), "width of the offscreen buffer, pixels"),
    Member("offHeight", "i4", (), "height of the offscreen buffer, pixels"),
    Member("offSamples", "i4", (), "samples per pixel of the offscreen buffer"),
    Member("fontScale", "i4", (), "size of text (mjtFontScale)"),
    Member("auxWidth", "i4", (NAUX,), "widths of the auxiliary buffers, pixels"),
    Member("auxHeight", "i4", (NAUX,), "heights of the auxiliary buffers, pixels"),
    Member("auxSamples", "i4", (NAUX,), "samples per pixel of the auxiliary buffers"),
    Member("offFBO", "u4", (), "name of the offscreen buffer"),
    Member("offFBO_r", "u4", (), "name of the offscreen buffer after resolving samples"),
    Member("offColor", "u4", (), "name of the offscreen colours"),
    Member("offColor_r", "u4", (), "name of the offscreen colours after resolving samples"),
    Member("offDepthStencil", "u4", (), "name of the offscreen depths"),
    Member("offDepthStencil_r", "u4", (), "name of the offscreen depths after resolving samples"),
    Member("shadowFBO", "u4", (), "name of the shadow buffer"),
    Member("shadowTex", "u4", (), "name of the shadow map"),
    Member("auxFBO", "u4", (NAUX,), "names of the auxiliary buffers"),
    Member("auxFBO_r", "u4", (NAUX,), "names of the auxiliary buffers after resolving samples"),
    Member("auxColor", "u4", (NAUX,), "names of the auxiliary colours"),
    Member("auxColor_r", "u4", (NAUX,), "names of the auxiliary colours after resolving samples"),
    Member("ntexture", "i4", (), "number of textures"),
    Member("textureType", "i4", (100,), "types of textures (mjtTexture)"),
    Member("texture", "u4", (100,), "names of textures"),
    Member("basePlane", "u4", (), "first plane"),
    Member("baseMesh", "u4", (), "first mesh"),
    Member("baseHField", "u4", (), "first height field"),
    Member("baseBuiltin", "u4", (), "first built-in shape"),
    Member("baseFontNormal", "u4", (), "first character of the normal font"),
    Member("baseFontShadow", "u4", (), "first character of the font with a shadow"),
    Member("baseFontBig", "u4", (), "first character of the big font"),
    Member("rangePlane", "i4", (), "number of planes"),
    Member("rangeMesh", "i4", (), "number of meshes"),
    Member("rangeHField", "i4", (), "number of height fields"),
    Member("rangeBuiltin", "i4", (), "number of built-in shapes"),
    Member("rangeFont", "i4", (), "number of characters of a font"),
    Member("nskin", "i4", (), "number of skins"),
    Member("charWidth", "i4", (127,), "widths of characters, pixels"),
    Member("charWidthBig", "i4", (127,), "widths of characters of the big font, pixels"),
    Member("charHeight", "i4", (), "height of characters, pixels"),
    Member("charHeightBig", "i4", (), "height of characters of the big font, pixels"),
    Member("glInitialized", "i4", (), "whether the context can draw"),
    Member("windowAvailable", "i4", (), "whether there is a window"),
    Member("windowSamples", "i4", (), "samples per pixel of the window"),
    Member("windowStereo", "i4", (), "whether the window is stereoscopic"),
    Member("windowDoublebuffer", "i4", (), "whether the window has two buffers"),
    Member("currentBuffer", "i4", (), "current drawing buffer (mjtFramebuffer)"),
    Member("readPixelFormat", "i4", (), "format of pixels that are read"),
    Member("readDepthMap", "i4", (), "whether depth increases or decreases with distance (mjtDepthMap)"),
)
# names of the buffers of each skin
CONTEXT_ARRAYS = ("skinvertVBO", "skinnormalVBO", "skintexcoordVBO", "skinfaceVBO")
SCENE = (
    Member("maxgeom", "i4", (), "largest number of geoms"),
    Member("ngeom", "i4", (), "number of geoms"),
    Member("nflex", "i4", (), "number of flexes"),
    Member("flexvertopt", "u1", (), "show vertices of flexes"),
    Member("flexedgeopt", "u1", (), "show edges of flexes"),
    Member("flexfaceopt", "u1", (), "show faces of flexes"),
    Member("flexskinopt", "u1", (), "show flexes with a smooth skin"),
    Member("nskin", "i4", (), "number of skins"),
    Member("nlight", "i4", (), "number of lights"),
    Member("enabletransform", "u1", (), "whether the model is translated, rotated and scaled in the room"),
    Member("translate", "f4", (3,), "translation of the model, m"),
    Member("rotate", "f4", (4,), "rotation of the model, a quaternion", (1.0, 0.0, 0.0, 0.0)),
    Member("scale", "f4", (), "scale of the model", 1.0),
    Member("stereo", "i4", (), "stereoscopic pictures (mjtStereo)"),
    Member("flags", "u1", (int(mjtRndFlag.mjNRNDFLAG),), "effects (mjtRndFlag)", _bytes(RENDERED, mjtRndFlag)),
    Member("framewidth", "i4", (), "width of a frame around the picture, pixels"),
    Member("framergb", "f4", (3,), "colour of the frame around the picture"),
    Member("status", "i4", (), "1 after geoms were left out because the scene was full", since="4.0.0"),
)
# arrays of a scene whose lengths depend on a model: element type, meaning
SCENE_ARRAYS = {
    "geomorder": ("i4", "indices of the geoms, sorted by distance from the camera"),
    "flexedgeadr": ("i4", "first edge of each flex"),
    "flexedgenum": ("i4", "number of edges of each flex"),
    "flexvertadr": ("i4", "first vertex of each flex"),
    "flexvertnum": ("i4", "number of vertices of each flex"),
    "flexfaceadr": ("i4", "first face of each flex"),
    "flexfacenum": ("i4", "largest number of faces of each flex"),
    "flexfaceused": ("i4", "number of faces of each flex"),
    "flexedge": ("i4", "vertices of the edges of flexes"),
    "flexvert": ("f4", "positions of the vertices of flexes, world frame, m"),
    "flexface": ("f4", "positions of the corners of the faces of flexes, world frame, m"),
    "flexnormal": ("f4", "normals at the corners of the faces of flexes, world frame"),
    "flextexcoord": ("f4", "texture coordinates at the corners of the faces of flexes"),
    "skinfacenum": ("i4", "number of faces of each skin"),
    "skinvertadr": ("i4", "first vertex of each skin"),
    "skinvertnum": ("i4", "number of vertices of each skin"),
    "skinvert": ("f4", "positions of the vertices of skins, world frame, m"),
    "skinnormal": ("f4", "normals at the vertices of skins, world frame"),
}
