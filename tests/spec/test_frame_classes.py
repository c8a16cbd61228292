"""Default classes of frames, for bodies inside them."""

import pytest
from later import later_run

import cardan

CLASSES = (
    '<mujoco><default><geom size=".1"/><default class="c"><geom size=".2"/></default><default class="d">'
    '<geom size=".3"/></default></default><worldbody>{}</worldbody></mujoco>'
)


@pytest.mark.parametrize(
    ("content", "early", "late"),
    [
        ('<frame childclass="c"><body><geom/></body></frame>', 0.1, 0.2),
        ('<body childclass="d"><frame childclass="c"><body><geom/></body></frame></body>', 0.3, 0.2),
        ('<frame childclass="c"><body childclass="d"><geom/></body></frame>', 0.3, 0.3),
        ('<frame childclass="c"><body><frame><geom/></frame></body></frame>', 0.1, 0.2),
        ('<frame childclass="c"><geom/></frame>', 0.2, 0.2),
    ],
)
def test_classes_of_frames(content: str, early: float, late: float) -> None:
    """In 4.0, the class of a frame also applies inside the bodies of the frame."""
    xml = CLASSES.format(content)
    for compat, size in (("3.1", early), ("4.0", late)):
        assert cardan.MjModel.from_xml_string(xml, compat=compat).geom_size[0, 0] == size
    assert later_run("out = mujoco.MjModel.from_xml_string(xml).geom_size[0, 0]", xml=xml) == late
