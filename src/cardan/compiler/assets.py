"""Materials and textures (spec: modeling, "material" and "texture")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.compiler.textures import make_texture
from cardan.spec.schema.keywords import TEXTURE

if TYPE_CHECKING:
    from cardan.compiler.build import Build


def add_assets(build: Build) -> None:
    """Textures and materials, in the user's order."""
    section = build.tree.section("asset")
    adr = 0
    nameless = [element for element in section.all("texture") if not element.name]
    for element in section.all("texture"):
        values = element.resolved()
        image = make_texture(element, values)
        build.enter("texture", element.name or (f"_{nameless.index(element)}" if len(nameless) > 1 else None))
        build.put(
            tex_type=TEXTURE[values["type"]],
            tex_height=image.shape[0],
            tex_width=image.shape[1],
            tex_adr=adr,
            tex_pathadr=-1,
            tex_image=image,
        )
        adr += image.size
    build.sizes["ntexdata"] = adr
    for element in section.all("material"):
        values = element.resolved()
        build.enter("material", element.name)
        build.put(
            mat_texid=build.ids["texture"].get(values["texture"] or "", -1),
            mat_texuniform=values["texuniform"],
            mat_texrepeat=values["texrepeat"],
            mat_emission=values["emission"],
            mat_specular=values["specular"],
            mat_shininess=values["shininess"],
            mat_reflectance=values["reflectance"],
            mat_metallic=values["metallic"],
            mat_roughness=values["roughness"],
            mat_rgba=values["rgba"],
        )
