"""Native code on disk: fingerprints, the user's cache, kernels in wheels, and helper processes of a cold start."""
