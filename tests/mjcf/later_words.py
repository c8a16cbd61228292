"""Models with words of later versions whose features are missing."""

WORLD = """<worldbody><site name="w"/><body name="a" pos="0 0 1"><joint name="j" range="-1 1"/>
<geom name="g" size=".1"/><site name="s"/><camera name="cam"/></body>
<body name="b" pos="1 0 1"><freejoint/><geom size=".1"/><site name="s2"/>
</body></worldbody><tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>"""
MOTOR = '<actuator><motor joint="j" {}/></actuator>'
GENERAL = '<actuator><general joint="j" {}/></actuator>'
SENSOR = "<sensor>{}</sensor>"
TENDON = '<tendon><fixed {}><joint joint="j" coef="1"/></fixed></tendon>'
CLASS = '<default><default class="q"><tendon springyield="1"/></default></default>'
JOINT = '<worldbody><body><joint {}/><geom size="1"/></body></worldbody>'
GEOM = '<worldbody><geom size="1" {}/></worldbody>'
BODY = '<worldbody><body {}><joint/><geom size="1"/></body></worldbody>'
FLEX = """<worldbody><body name="q"><flexcomp name="f" dim="1" count="3 1 1" radius=".01" spacing="1 1 1" {}</body>
</worldbody>"""

SOFT = """<worldbody><body name="q"/></worldbody><deformable><flex name="f" dim="2" radius=".01" body="q"
vertex="0 0 0 1 0 0 0 1 0" element="0 1 2" {}/></deformable>"""

MESH = '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>'

NEEDED = {
    "plastic springs": [
        JOINT.format('springyield="1"'),
        CLASS + TENDON.format('class="q"'),
        '<keyframe><key plastic="1"/></keyframe>',
    ],
    "constraints on the strain of flexes": [FLEX.format('><edge equality="strain"/></flexcomp>')],
    "passive contacts of flexes": [FLEX.format('><contact passive="true"/></flexcomp>')],
    "interpolated flexes": [FLEX.format('dof="trilinear" cellcount="2 2 2"/>')],
}
"""Models that need a missing feature."""


def model(part: str) -> str:
    """A model's text with the part; parts with a world of their own stand alone."""
    return f"<mujoco>{'' if '<worldbody>' in part else WORLD}{part}</mujoco>"
