"""The tables of the two structures that kernels of the renderer see: what is drawn from, and a picture."""

from __future__ import annotations

from cardan.jit import Field, Struct

ANY = "any"
NLOD = 5
"""Levels of detail of built-in shapes."""
NLEVEL = 16
"""Levels of detail that a texture may have: the largest is 32768 pixels wide."""

ASSETS = Struct(
    "Assets",
    [
        # shapes: vertices, each with a normal and texture coordinates, and triangles
        Field("vert", "f4", (ANY, 4), "position in units of the shape; the last number says which end it moves with"),
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
        Field("shape_rbound", "f4", (ANY,), "radius about the origin that all vertices are within"),
        Field("builtin", "i4", (ANY, NLOD), "shape of each built-in kind at each level of detail"),
        Field("slices", "i4", (NLOD,), "corners of circles at each level of detail"),
        Field(
            "plane_reach", "f8", (), "half the size of planes without bounds, but for a repetition of their texture, m"
        ),
        # textures with their levels of detail
        Field("texel", "i4", (ANY,), "colours: red, green and blue in the lowest three bytes"),
        Field("tex_type", "i4", (ANY,), "kind of each texture (mjtTexture)"),
        Field("tex_width", "i4", (ANY,), "width, of cubes that of a side, pixels"),
        Field("tex_height", "i4", (ANY,), "height, of cubes that of a side, pixels"),
        Field("tex_nlevel", "i4", (ANY,), "number of levels of detail"),
        Field("tex_leveladr", "i8", (ANY, NLEVEL), "first colour of each level; sides of cubes stand in sequence"),
    ],
    readonly=True,
)
"""What a context keeps of a model."""

PICTURE = [
    Field("width", "i4", (), "width of the picture, pixels"),
    Field("height", "i4", (), "height, pixels"),
    Field("nsample", "i4", (), "samples a pixel: 1 or 4"),
    Field("color", "u1", (ANY,), "red, green, blue of each pixel, the lowest row first"),
    Field("depth", "f4", (ANY,), "distance along the axis of the camera, m; that of the far plane where nothing is"),
    Field("segment", "i4", (ANY,), "geom of the scene that is seen, or -1"),
    Field("mode", "i4", (), "what is drawn: colours, or depths and geoms"),
    Field("background", "f8", (3,), "colour where nothing is"),
    Field("cull", "i4", (), "whether triangles that are seen from behind are left out"),
    Field("wireframe", "i4", (), "whether only the edges of shapes are drawn"),
    Field("textured", "i4", (), "whether textures are drawn"),
    Field("additive", "i4", (), "whether what is transparent adds to what is behind, and hides none of it"),
    Field("nworker", "i4", (), "threads that work on it"),
    Field("epoch", "i4", (), "number of the picture, by which memory that is out of date is told"),
    Field("sky", "i4", (), "texture of the sky, or -1"),
    Field("sky_radius", "f8", (), "distance at which the sky hides everything, m"),
    Field("fog", "i4", (), "whether there is fog"),
    Field("fog_start", "f8", (), "depth at which fog begins, m"),
    Field("fog_end", "f8", (), "depth at which fog hides everything, m"),
    Field("fog_color", "f8", (3,), "colour of fog"),
    Field("haze", "f8", (), "share of the distance to the horizon in which haze thickens; 0: no haze"),
    Field("haze_color", "f8", (3,), "colour of haze"),
    Field("haze_geom", "i4", (), "plane without bounds whose horizon is hazy, or -1"),
]
GEOMS = [
    Field("ngeom", "i4", (), "number of geoms"),
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
    Field("geom_transparent", "u1", (ANY,), "whether it is drawn as transparent"),
    Field("geom_shape", "i4", (ANY,), "shape among the assets of meshes, height fields, ...; -1: by its type"),
    Field("geom_opacity", "f4", (ANY,), "opacity with which it is drawn"),
    Field("geom_flat", "u1", (ANY,), "whether it is drawn in its colour, without lights"),
    Field("flex_vert", "f4", (ANY, 3), "positions of the vertices of flexes, m"),
    Field("flex_edge", "i4", (ANY, 2), "vertices of their edges, relative to the flex"),
    Field("flex_vertadr", "i4", (ANY,), "first vertex of each flex"),
    Field("flex_vertnum", "i4", (ANY,), "number of vertices"),
    Field("flex_edgeadr", "i4", (ANY,), "first edge of each flex"),
    Field("flex_edgenum", "i4", (ANY,), "number of edges"),
    Field("flex_showvert", "i4", (), "whether vertices of flexes are drawn"),
    Field("flex_showedge", "i4", (), "whether edges of flexes are drawn"),
    Field("geom_mirror", "i4", (ANY,), "number of the mirror that it is, or -1"),
    Field("geom_order", "i4", (ANY,), "geoms in the order in which they are drawn"),
]
LIGHTS = [
    Field("nlight", "i4", (), "number of lights"),
    Field("light_pos", "f8", (ANY, 3), "position, m"),
    Field("light_dir", "f8", (ANY, 3), "direction of the rays, unit vector"),
    Field("light_attenuation", "f8", (ANY, 3), "constant, linear, quadratic attenuation"),
    Field("light_cutoff", "f8", (ANY,), "cosine of half the angle of the cone; -1 where there is none"),
    Field("light_exponent", "f8", (ANY,), "how fast it falls off from the axis"),
    Field("light_ambient", "f8", (ANY, 3), "ambient colour"),
    Field("light_diffuse", "f8", (ANY, 3), "diffuse colour"),
    Field("light_specular", "f8", (ANY, 3), "specular colour"),
    Field("light_directional", "i4", (ANY,), "whether its rays are parallel"),
    Field("light_layer", "i4", (ANY,), "0, or the number of its colours among those that shadows may take away"),
    Field("nlayer", "i4", (), "lights with shadows"),
    Field("ncolor", "i4", (), "numbers of a vertex's colours: 3, and 3 for each light with shadows"),
    Field("shadow_size", "i4", (), "width and height of a shadow map, pixels"),
    Field("shadow_near", "f4", (ANY,), "shadow maps: nearness to each light of what is nearest to it"),
    Field("shadow_box", "i4", (ANY, 4), "pixels of each map that are in use: first and last x, first and last y"),
]
VIEWS = [
    Field("nmirror", "i4", (), "number of mirrors; views are the camera, the mirrors, and the lights with shadows"),
    Field("view_row", "f8", (ANY, 16), "rows that give pixel x, pixel y and 1, all times w, and depth, of a point"),
    Field("view_eye", "f8", (ANY, 3), "position of the camera, for highlights, m"),
    Field(
        "view_base",
        "f8",
        (ANY, 9),
        "where the ray of pixel (x, y) begins: coefficients of 1, x and y, coordinate by coordinate",
    ),
    Field("view_ray", "f8", (ANY, 9), "its vector for a depth of 1 m, likewise"),
    Field("view_limit", "f8", (ANY, 3), "nearness beyond which nothing is drawn: coefficients of x, y and 1"),
    Field("view_width", "i4", (ANY,), "width, pixels"),
    Field("view_height", "i4", (ANY,), "height, pixels"),
    Field("view_perspective", "i4", (ANY,), "whether it is a central projection"),
    Field("view_near", "f8", (ANY,), "distance of the near plane, m"),
    Field("view_far", "f8", (ANY,), "distance of the far plane, m"),
    Field("view_flip", "i4", (ANY,), "whether it shows a mirrored world"),
    Field("view_shadow", "i4", (ANY,), "whether it is that of a light, which sees the backs of things"),
    Field("view_mirror", "i4", (ANY,), "geom that is the mirror, or -1"),
    Field("view_vertadr", "i4", (ANY,), "first vertex"),
    Field("view_triadr", "i4", (ANY,), "first triangle"),
    Field("view_instadr", "i4", (ANY,), "first entry of `inst_trinum`"),
    Field("view_binadr", "i4", (ANY,), "first entry of `bin_start`"),
]
INSTANCES = [
    Field("ninst", "i4", (), "number of instances: shapes put into the world"),
    Field("inst_geom", "i4", (ANY,), "geom of the scene"),
    Field("inst_shape", "i4", (ANY,), "shape"),
    Field("inst_scale", "f8", (ANY, 4), "scales along the axes, m; and shift of the ends along z, m"),
    Field("inst_pose", "f8", (ANY, 12), "orientation and position"),
    Field("inst_line", "f8", (ANY,), "width of lines, pixels, where edges are drawn; 0: surfaces are"),
    Field("inst_blend", "i4", (ANY,), "whether it is blended with what is behind"),
    Field("inst_gridadr", "i4", (ANY,), "first node of a plane's grid, relative to the grids of a view; -1: no plane"),
    Field("inst_cell", "f8", (ANY, 2), "size of the cells of the grid, m"),
    Field("inst_cells", "i4", (ANY, 2), "cells on one side of the middle"),
    Field("inst_vertadr", "i4", (ANY,), "first vertex, relative to the view"),
    Field("inst_triadr", "i4", (ANY,), "first triangle, relative to the view"),
    Field("inst_trinum", "i4", (ANY,), "number of triangles that may be seen; a view after the other"),
    Field("nvert", "i4", (), "vertices of all instances"),
    Field("ntri", "i4", (), "triangles of all instances"),
    Field("nnode", "i4", (), "nodes of the grids of all planes"),
    Field("focal", "f8", (), "pixels of a length at as large a distance"),
]
TRIANGLES = [
    Field("vert_clip", "f8", (ANY, 4), "pixel x and y times w, w, and depth"),
    Field("vert_color", "f4", (ANY, "ncolor"), "colours; those of the nodes of grids, worker by worker, are the last"),
    Field("vert_tex", "f4", (ANY, 3), "texture coordinates; of planes x and y, m"),
    Field("node_epoch", "i4", (ANY,), "picture for which a node of a grid has its colours"),
    Field("nodeadr", "i4", (), "first node among the colours of vertices"),
    Field("tri_vert", "i4", (ANY, 3), "vertices"),
    Field("tri_edge", "f8", (ANY, 9), "edge functions: coefficients of x, y and 1"),
    Field("tri_near", "f8", (ANY, 3), "nearness in the picture: coefficients of x, y and 1"),
    Field("tri_box", "i4", (ANY, 4), "pixels that it may cover: first and last x, first and last y"),
    Field("tri_inst", "i4", (ANY,), "instance"),
    Field("tri_back", "u1", (ANY,), "whether it is seen from inside"),
]
TILES = [
    Field("bin_start", "i4", (ANY,), "first entry of `bin_tri` of each tile"),
    Field("bin_tri", "i4", (ANY,), "triangles of each tile"),
    Field("tile_near", "f4", (ANY,), "nearness of each sample of the tile of each worker; camera, then mirror"),
    Field("tile_tri", "i4", (ANY,), "triangle that each sample shows, or -1; camera, then mirror"),
    Field("tile_color", "f4", (ANY,), "colour of each pixel of the tile; camera, then mirrors"),
    Field("run_scale", "f4", (ANY,), "of pixels side by side: factor of perspective"),
    Field("run_layer", "f4", (ANY,), "colours by light"),
    Field("run_color", "f4", (ANY,), "colours"),
    Field("run_cover", "f4", (ANY,), "share of samples"),
]
FRAME = Struct("Frame", PICTURE + GEOMS + LIGHTS + VIEWS + INSTANCES + TRIANGLES + TILES, readonly=False)
"""A picture in the making."""
