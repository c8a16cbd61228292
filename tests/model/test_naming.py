"""Hashes of names."""

from cardan.model.naming import name_hash


def test_name_hash_is_djb2() -> None:
    assert name_hash("") == 5381
    assert name_hash("a") == 5381 * 33 ^ ord("a")
