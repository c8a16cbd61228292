"""Native code on disk: fingerprints, the user's cache, kernels of wheels, and the helpers of a cold start."""
