"""Where native code is kept: fingerprints, the cache on disk, archives in wheels."""
