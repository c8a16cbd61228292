"""File formats of geometry, from bytes to arrays: surfaces (STL, OBJ, MSH) and meshes of elements (GMSH)."""
