"""Files made from the tables are current."""

import mujoco
from reference import model_from_reference

from cardan.model import stubs
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.model.tables import DATA, MODEL
from cardan.render import fields as render_stubs


def test_the_page_of_fields_is_current():
    assert stubs.PAGE.read_text() == stubs.page(), "run python -m cardan.model.stubs"


def test_the_page_names_every_public_field():
    page = stubs.page()
    for struct in (MODEL, DATA):
        for field in struct.fields:
            if not field.name.startswith(("work.", "aux.")):
                assert f"| `{field.name}` |" in page


def test_the_stubs_are_current():
    assert stubs.STUB.read_text() == stubs.stub_text(), "run python -m cardan.model.stubs"
    assert stubs.KERNEL_STUB.read_text() == stubs.kernel_stub_text(), "run python -m cardan.model.stubs"
    assert render_stubs.STUB.read_text() == render_stubs.stub_text(), "run python -m cardan.render.fields"


def test_the_stubs_declare_what_exists():
    m = model_from_reference(mujoco.MjModel.from_xml_string("<mujoco/>"))
    for cls, owner in ((MjModel, m), (MjData, MjData(m))):
        text = stubs.stub_text().split(f"class {cls.__name__[2:]}Fields:")[1].split("\nclass ")[0]
        for line in text.strip().splitlines():
            name = line.strip().removeprefix("def ").split("(")[0].split(":")[0]
            assert hasattr(owner, name), name
