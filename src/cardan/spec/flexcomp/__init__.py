"""The macro ``<flexcomp>``: a flex with the bodies and joints that carry its vertices (spec: modeling, "flexcomp")."""
