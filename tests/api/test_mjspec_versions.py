"""Specifications of different versions (`compat`) in one model."""

import warnings

import pytest

import cardan

BALL = '<mujoco><worldbody><body name="b"><freejoint/><geom size=".1"/></body></worldbody></mujoco>'


@pytest.mark.parametrize("parent, child", [("3.1", "4.0"), ("4.0", "3.1")])
@pytest.mark.parametrize("part", [False, True])
def test_attaching_another_version_warns(parent: str, child: str, part: bool) -> None:
    """The model has the version of the parent."""
    spec = cardan.MjSpec(compat=parent)
    other = cardan.MjSpec.from_string(BALL, compat=child)
    frame = spec.worldbody.add_frame()
    with pytest.warns(UserWarning, match=f"compat='{child}' is attached to one with compat='{parent}'"):
        if part:
            frame.attach_body(other.body("b"), "x", "")
        else:
            spec.attach(other, frame=frame, prefix="x")
    assert spec.compile().compat == parent


def test_attaching_the_same_version_is_silent() -> None:
    """No warning."""
    spec, other = cardan.MjSpec(compat="4.0"), cardan.MjSpec.from_string(BALL, compat="4.0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spec.attach(other, frame=spec.worldbody.add_frame(), prefix="x")
