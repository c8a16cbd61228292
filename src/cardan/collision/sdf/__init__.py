"""Signed-distance shapes and the search for their contacts (spec: geoms of type sdf, options ``sdf_*``)."""
