"""Tables of the two structures that the renderer's kernels see: the assets, and a picture."""

from __future__ import annotations

from pathlib import Path

from cardan.jit import Field, Struct
from cardan.visual import fields as visual_fields
from cardan.visual.record import dtype_of

ANY = "any"
GEOM_WORDS = dtype_of(visual_fields.GEOM).itemsize // 4
"""Number of 32-bit words of a geom of a scene."""
LIGHT_WORDS = dtype_of(visual_fields.LIGHT).itemsize // 4
"""Number of 32-bit words of a light of a scene."""
NRANK = 128
"""Number of entries of `tile_rank`."""
NLOD = 5
"""Number of levels of detail of built-in shapes."""
NLEVEL = 16
"""Largest number of levels of detail of a texture; 16 suffice for textures that are 32768 pixels wide."""

ASSETS = Struct(
    "Assets",
    [
        # shapes: vertices, each with a normal and texture coordinates, and triangles
        Field("vert", "f4", (ANY, 4), "position in units of the shape; the factor `end` (see `shapes`)"),
        Field("normal", "f4", (ANY, 3), "normal"),
        Field("texcoord", "f4", (ANY, 2), "texture coordinates"),
        Field("face", "i4", (ANY, 3), "vertices of a triangle, counter-clockwise from outside, relative to the shape"),
        Field("edge", "i4", (ANY, 2), "vertices of a line, relative to the shape"),
        Field("shape_vertadr", "i4", (ANY,), "first vertex of each shape"),
        Field("shape_vertnum", "i4", (ANY,), "number of vertices"),
        Field("shape_faceadr", "i4", (ANY,), "first triangle"),
        Field("shape_facenum", "i4", (ANY,), "number of triangles"),
        Field("shape_edgeadr", "i4", (ANY,), "first line"),
        Field("shape_edgenum", "i4", (ANY,), "number of lines"),
        Field("shape_rbound", "f4", (ANY,), "radius of the bounding sphere about the origin"),
        Field("mesh_shape", "i4", (ANY, 2), "shapes of each mesh and of its hull"),
        Field("hfield_shape", "i4", (ANY,), "shape of each height field"),
        Field("flex_shape", "i4", (ANY,), "shape of each flex"),
        Field("skin_shape", "i4", (ANY,), "shape of each skin"),
        Field("builtin", "i4", (ANY, NLOD), "shape of each built-in kind at each level of detail"),
        Field("slices", "i4", (NLOD,), "corners of circles at each level of detail"),
        Field("plane_reach", "f8", (), "half the size of infinite planes, without one repetition of their texture, m"),
        # textures with their levels of detail
        Field("texel", "u1", (ANY, 4), "colours: red, green, blue and an unused number"),
        Field("tex_type", "i4", (ANY,), "kind of each texture (mjtTexture)"),
        Field("tex_width", "i4", (ANY,), "width (for cubes of a side), pixels"),
        Field("tex_height", "i4", (ANY,), "height (for cubes of a side), pixels"),
        Field("tex_nlevel", "i4", (ANY,), "number of levels of detail"),
        # levels of detail have a border of one pixel; sides of cubes are consecutive
        Field("tex_leveladr", "i8", (ANY, NLEVEL), "first colour of each level of detail"),
    ],
    readonly=True,
)
"""Data of a model that a context holds."""

PICTURE = [
    Field("width", "i4", (), "width of the picture, pixels"),
    Field("height", "i4", (), "height, pixels"),
    Field("nsample", "i4", (), "samples per pixel: 1 or 4"),
    Field("sample_shift", "i4", (), "logarithm of nsample to base 2"),
    Field("lane_x", "f4", (ANY,), "x of each sample of a block, from its lower left corner, pixels"),
    Field("lane_y", "f4", (ANY,), "y of each sample of a block, pixels"),
    Field("sample_x", "f4", (ANY,), "x of each sample of a row of a tile, from its left edge, pixels"),
    Field("ramp", "f4", (ANY,), "0, 1, 2, ..."),
    Field("color", "u1", (ANY, 3), "red, green, blue of each pixel"),
    Field("highest_first", "i4", (), "whether the first row is the highest; else it is the lowest"),
    Field("depth", "f4", (ANY,), "distance along the axis of the camera, m; the far plane's if the pixel is empty"),
    Field("segment", "i4", (ANY,), "visible geom of the scene, or -1"),
    Field("mode", "i4", (), "drawing mode: colours, or depths and geoms"),
    Field("background", "f4", (4,), "colour of empty pixels"),
    Field("cull", "i4", (), "whether triangles that are seen from behind are omitted"),
    Field("wireframe", "i4", (), "whether only the edges of shapes are drawn"),
    Field("textured", "i4", (), "whether textures are drawn"),
    Field("additive", "i4", (), "whether colours of transparent geoms are added to those behind them"),
    Field("nshare", "i4", (), "shares into which instances are divided, for threads"),
    Field("epoch", "i4", (), "number of the picture, which identifies outdated entries"),
    Field("sky", "i4", (), "texture of the sky, or -1"),
    Field("sky_radius", "f8", (), "distance at which the sky hides everything, m"),
    Field("fog", "i4", (), "whether there is fog"),
    Field("fog_start", "f8", (), "depth at which fog begins, m"),
    Field("fog_end", "f8", (), "depth at which fog hides everything, m"),
    Field("fog_color", "f4", (4,), "colour of fog"),
    Field("haze", "f8", (), "fraction of the distance to the horizon over which haze thickens; 0: no haze"),
    Field("haze_color", "f4", (4,), "colour of haze"),
    Field("haze_geom", "i4", (), "infinite plane whose horizon is hazy, or -1"),
]
GEOMS = [
    Field("ngeom", "i4", (), "number of geoms"),
    Field("nreflect", "i4", (), "number of planes and boxes that reflect"),
    Field("nsplit", "i4", (), "number of parts of large shapes"),
    Field("nsoft", "i4", (), "number of flexes and skins"),
    Field("scene_i", "i4", (ANY, GEOM_WORDS), "geoms of the scene, seen as integer words"),
    Field("scene_f", "f4", (ANY, GEOM_WORDS), "geoms of the scene, seen as real words"),
    Field("geom_reflecting", "i4", (ANY,), "planes and boxes that reflect, `nreflect` of them"),
    Field("eye", "f8", (3,), "position of the camera, by which geoms are sorted, m"),
    Field("geom_square", "f8", (ANY,), "square of the distance from the camera, m²"),
    Field("geom_type", "i4", (ANY,), "shape (mjtGeom)"),
    Field("geom_dataid", "i4", (ANY,), "number of the mesh, height field, plane, ..."),
    Field("geom_texid", "i4", (ANY,), "texture, or -1"),
    Field("geom_texuniform", "i4", (ANY,), "whether a texture is mapped uniformly"),
    Field("geom_texcoord", "i4", (ANY,), "whether the mesh has texture coordinates"),
    Field("geom_texrepeat", "f4", (ANY, 2), "repetitions of a texture"),
    Field("geom_size", "f4", (ANY, 3), "size, m"),
    Field("geom_pos", "f4", (ANY, 3), "position, m"),
    Field("geom_mat", "f4", (ANY, 9), "orientation"),
    Field("geom_rgba", "f4", (ANY, 4), "colour and opacity"),
    Field("geom_emission", "f4", (ANY,), "emission"),
    Field("geom_specular", "f4", (ANY,), "specularity"),
    Field("geom_shininess", "f4", (ANY,), "shininess"),
    Field("geom_reflectance", "f4", (ANY,), "reflectance"),
    Field("geom_transparent", "u1", (ANY,), "whether the geom is drawn as transparent"),
    Field("geom_shape", "i4", (ANY,), "shape in the assets, for meshes, height fields, ...; -1: by type"),
    Field("geom_opacity", "f4", (ANY,), "opacity with which the geom is drawn"),
    Field("geom_flat", "u1", (ANY,), "whether the geom is drawn in its colour, without lights"),
    Field("flex_vert", "f4", (ANY, 3), "positions of the vertices of flexes, m"),
    Field("flex_edge", "i4", (ANY, 2), "vertices of the edges of flexes, relative to the flex"),
    Field("flex_vertadr", "i4", (ANY,), "first vertex of each flex"),
    Field("flex_vertnum", "i4", (ANY,), "number of vertices"),
    Field("flex_edgeadr", "i4", (ANY,), "first edge of each flex"),
    Field("flex_edgenum", "i4", (ANY,), "number of edges"),
    Field("flex_showvert", "i4", (), "whether vertices of flexes are drawn"),
    Field("flex_showedge", "i4", (), "whether edges of flexes are drawn"),
    Field("geom_mirror", "i4", (ANY,), "number of the geom's mirror, or -1"),
    Field("geom_order", "i4", (ANY,), "geoms in the order in which they are drawn"),
]
LIGHTS = [
    Field("nlight", "i4", (), "number of lights"),
    Field("scene_light_i", "i4", (ANY, LIGHT_WORDS), "lights of the scene, seen as integer words"),
    Field("scene_light_f", "f4", (ANY, LIGHT_WORDS), "lights of the scene, seen as real words"),
    Field("light_pos", "f4", (ANY, 3), "position, m"),
    Field("light_dir", "f4", (ANY, 3), "direction of the rays, unit vector"),
    Field("light_attenuation", "f4", (ANY, 3), "constant, linear, quadratic attenuation"),
    Field("light_cutoff", "f4", (ANY,), "cosine of half the angle of the cone; -1 if there is none"),
    Field("light_exponent", "f4", (ANY,), "exponent of the decrease away from the axis"),
    Field("light_ambient", "f4", (ANY, 3), "ambient colour"),
    Field("light_diffuse", "f4", (ANY, 3), "diffuse colour"),
    Field("light_specular", "f4", (ANY, 3), "specular colour"),
    Field("light_directional", "i4", (ANY,), "whether the light's rays are parallel"),
    Field("light_layer", "i4", (ANY,), "0, or the number of the light among the lights with shadows"),
    Field("nlayer", "i4", (), "number of lights with shadows"),
    Field("ncolor", "i4", (), "numbers in a vertex's colours: 4, plus 4 for each light with shadows"),
    Field("shadow_size", "i4", (), "width and height of a shadow map, pixels"),
    Field("shadow_parts", "i4", (), "number of bands of rows into which a map is divided"),
    Field("shadow_stride", "i4", (), "pixels between rows of a map: whole blocks"),
    # for each view of the camera or a mirror, and each map; row by row of the light's matrix
    Field("light_line", "f8", (ANY, 24), "origins and vectors of rays in the light's view: coefficients of 1, x and y"),
    Field("shadow_near", "f4", (ANY,), "shadow maps: nearness of the nearest surface to each light"),
    Field("shadow_box", "i4", (ANY, 4), "pixels of each map that are in use: first and last x, first and last y"),
    Field("shadow_old", "i4", (ANY, 4), "pixels of each map that were in use in the last picture"),
]
VIEWS = [
    Field("nmirror", "i4", (), "number of mirrors; views are the camera, the mirrors, and the lights with shadows"),
    Field("view_row", "f8", (ANY, 16), "rows that map a point to pixel x, pixel y and 1, all times w, and depth"),
    Field("view_eye", "f8", (ANY, 3), "position of the camera, for highlights, m"),
    Field(
        "view_base", "f8", (ANY, 9), "origin of the ray of pixel (x, y): coefficients of 1, x, y, for each coordinate"
    ),
    Field("view_ray", "f8", (ANY, 9), "vector of the ray for a depth of 1 m, likewise"),
    Field("view_limit", "f8", (ANY, 3), "largest visible nearness: coefficients of x, y and 1"),
    Field("view_width", "i4", (ANY,), "width, pixels"),
    Field("view_height", "i4", (ANY,), "height, pixels"),
    Field("view_perspective", "i4", (ANY,), "whether the projection is perspective"),
    Field("view_near", "f8", (ANY,), "distance of the near plane, m"),
    Field("view_far", "f8", (ANY,), "distance of the far plane, m"),
    Field("view_flip", "i4", (ANY,), "whether the view shows a mirrored world"),
    Field("view_shadow", "i4", (ANY,), "whether the view is that of a light, which shows the backs of surfaces"),
    Field("view_mirror", "i4", (ANY,), "geom that is the mirror, or -1"),
    Field("view_vertadr", "i4", (ANY,), "first vertex"),
    Field("view_triadr", "i4", (ANY,), "first triangle"),
    Field("view_instadr", "i4", (ANY,), "first entry of `inst_trinum`"),
    Field("view_binadr", "i4", (ANY,), "first entry of `bin_start`"),
]
INSTANCES = [
    Field("ninst", "i4", (), "number of instances: shapes placed in the world"),
    Field("inst_geom", "i4", (ANY,), "geom of the scene"),
    Field("inst_shape", "i4", (ANY,), "shape"),
    Field("inst_scale", "f8", (ANY, 4), "scales along the axes, m; and shift of the ends along z, m"),
    Field("inst_pose", "f8", (ANY, 12), "orientation and position"),
    Field("inst_line", "f8", (ANY,), "width of lines, pixels, if edges are drawn; 0: surfaces are drawn"),
    Field("inst_blend", "i4", (ANY,), "whether the instance is blended with what is behind it"),
    Field("inst_gridadr", "i4", (ANY,), "first node of a plane's grid, relative to those of a view; -1: not a plane"),
    Field("inst_cell", "f8", (ANY, 2), "size of the cells of the grid, m"),
    Field("inst_cells", "i4", (ANY, 2), "number of cells on one side of the centre"),
    Field("inst_part", "i4", (ANY,), "part of the shape's triangles and vertices in this instance"),
    Field("inst_parts", "i4", (ANY,), "number of such parts"),
    Field("inst_vertadr", "i4", (ANY,), "first vertex, relative to the view"),
    Field("inst_triadr", "i4", (ANY,), "first triangle, relative to the view"),
    Field("inst_trinum", "i4", (ANY,), "number of triangles that may be visible, view by view"),
    Field(
        "inst_box",
        "i4",
        (ANY, 4),
        "in the views of lights, pixels that triangles may cover, as `tri_box`, view by view",
    ),
    Field("nvert", "i4", (), "number of vertices of all instances"),
    Field("ntri", "i4", (), "number of triangles of all instances"),
    Field("nnode", "i4", (), "number of nodes of the grids of all planes"),
    Field("focal", "f8", (), "pixels per metre; in a perspective projection, at a distance of 1 m"),
]
TRIANGLES = [
    Field("vert_clip", "f8", (ANY, 4), "pixel x and y times w, w, and depth"),
    Field("vert_color", "f4", (ANY, "ncolor"), "colours; then those of the nodes of grids, worker by worker"),
    Field("vert_pixel", "f8", (ANY, 2), "position in the picture, pixels"),
    Field("vert_beyond", "u1", (ANY,), "sides of the view beyond which the vertex is, one bit each"),
    Field("vert_epoch", "i4", (ANY,), "picture for which colours and texture coordinates are, or will be, computed"),
    Field("lit", "f4", (ANY,), "tables of the vertices that a thread lights together"),
    Field("lit_vert", "i4", (ANY,), "the numbers of the vertices in `lit`"),
    Field("vert_tex", "f4", (ANY, 3), "texture coordinates; of planes x and y, m"),
    Field("node_epoch", "i4", (ANY,), "picture for which the colours of a node of a grid were computed"),
    Field("nodeadr", "i4", (), "first node among the colours of vertices"),
    Field("tri_vert", "i4", (ANY, 3), "vertices"),
    Field("tri_edge", "f8", (ANY, 9), "edge functions: coefficients of x, y and 1"),
    Field("tri_near", "f8", (ANY, 3), "nearness in the picture: coefficients of x, y and 1"),
    Field("tri_box", "i4", (ANY, 4), "pixels that the triangle may cover: first and last x, first and last y"),
    Field("tri_inst", "i4", (ANY,), "instance"),
    Field("tri_back", "u1", (ANY,), "whether the triangle is seen from inside"),
]
TILES = [
    Field("bin_start", "i4", (ANY,), "first entry in `bin_tri` for each share of the instances in each tile"),
    Field("bin_tri", "i4", (ANY,), "triangles of each tile"),
    Field("tile_order", "i4", (ANY,), "tiles, in the order in which they are drawn"),
    Field("tile_rank", "i4", (NRANK,), "for classes of tiles by number of triangles: number of tiles, then position"),
    Field("tile_shares", "i4", (), "shares into which the tiles are divided"),
    Field("tile_near", "f4", (ANY,), "nearness of each sample of the tile of each worker; camera, then mirror"),
    Field("tile_tri", "i4", (ANY,), "triangle that each sample shows, or -1; camera, then mirror"),
    Field("tile_color", "f4", (ANY, 4), "colour of each pixel of the tile; camera, then mirrors"),
    # values of the pixels in a row
    Field("run_key", "i4", (ANY,), "content of each pixel: a triangle, nothing, or several"),
    Field("run_place", "i4", (ANY,), "position of each pixel in the row of the tile"),
    Field("run_hit", "f4", (ANY,), "for each sample in which a triangle is nearest, its fraction of the pixel"),
    Field("run_cover", "f4", (ANY,), "fraction of samples in which a triangle is nearest"),
    Field("run_scale", "f4", (ANY,), "factor of perspective"),
    Field("run_depth", "f4", (ANY,), "depth, m"),
    Field("run_s", "f4", (ANY,), "first texture coordinate; for planes, x, m"),
    Field("run_t", "f4", (ANY,), "second texture coordinate; for planes, y, m"),
    Field("run_r", "f4", (ANY,), "third texture coordinate"),
    Field("run_size", "f4", (ANY,), "size of a pixel in the texture"),
    Field("next_level", "i4", (), "offset between the entries of one level of detail and the next"),
    Field("run_corner", "i4", (ANY,), "texel at the lower left"),
    Field("run_u", "f4", (ANY,), "horizontal position between texels, from 0 to 1"),
    Field("run_v", "f4", (ANY,), "vertical position between texels, from 0 to 1"),
    Field("run_side", "i4", (ANY,), "side of a cube texture"),
    Field("run_share", "f4", (ANY,), "weight of the next level of detail"),
    Field("run_cell", "i4", (ANY,), "triangle of a plane's cell"),
    Field("run_right", "f4", (ANY,), "weight of the right node of a plane's cell"),
    Field("run_up", "f4", (ANY,), "weight of the upper node of a plane's cell"),
    Field("run_texel", "i4", (ANY,), "pixel of a shadow map, or -1"),
    Field("run_limit", "f4", (ANY,), "nearness to a light beyond which a surface shadows the pixel"),
    Field("run_haze", "f4", (ANY,), "weight of the haze"),
    Field("run_layer", "f4", (ANY, 4), "colours by each light with shadows"),
    Field("run_color", "f4", (ANY, 4), "colours"),
]
FRAME = Struct("Frame", PICTURE + GEOMS + LIGHTS + VIEWS + INSTANCES + TRIANGLES + TILES, readonly=False)
"""Data of a picture that is being drawn."""

STUB = Path(__file__).with_name("kernel_views.pyi")


def stub_text() -> str:
    """Return the text of ``kernel_views.pyi``."""
    from cardan.model.stubs import kernel_views_text

    header = '"""Fields as kernels of the renderer see them; written by `python -m cardan.render.fields`."""'
    return header + "\n\n" + kernel_views_text(ASSETS, FRAME)


if __name__ == "__main__":
    from cardan.files import write_file

    write_file(STUB, stub_text())
