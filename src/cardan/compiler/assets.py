"""Assets: meshes, height fields, textures and materials (spec: modeling, "asset")."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardan.compiler.build import Build


def add_assets(build: Build) -> None:
    """Add meshes, height fields, textures and materials, in the user's order."""
    kinds = {element.tag for element in build.tree.section("asset").children}
    if "mesh" in kinds:
        from cardan.compiler.meshes.columns import add_meshes

        add_meshes(build)
    if "hfield" in kinds:
        from cardan.compiler.heightfields import add_heightfields

        add_heightfields(build)
    if "texture" in kinds:
        from cardan.compiler.textures import add_textures

        add_textures(build)
    _add_materials(build)


def _add_materials(build: Build) -> None:
    """Add columns ``mat_*`` of the materials that are kept."""
    for element in build.tree.section("asset").all("material"):
        if build.dropped(element):
            continue
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
