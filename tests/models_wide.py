"""Random models with what `models_random` leaves out: wrapped tendons, muscles, sites and bodies that are pulled,
meshes, fluid, and every integrator and solver but conjugate gradients.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from models_random import Features, ModelMaker, element

INTEGRATORS = ("Euler", "RK4", "implicit", "implicitfast")


class WideModelMaker(ModelMaker):
    """Draws one model; beside what `ModelMaker` draws, the features above."""

    def __init__(self, seed: int, features: Features):
        super().__init__(seed, features)
        self.integrator = self.pick(INTEGRATORS)
        self.in_fluid = self.chance(0.5)
        self.meshes: list[str] = []
        self.wraps: list[tuple[str, str]] = []
        """Names of geoms that tendons may wrap around, and of a site beside each, empty for cylinders."""

    # ---- geoms

    def geom(self) -> str:
        if self.chance(0.2):
            return self.mesh_geom()
        if self.chance(0.3):
            return self.wrapped_geom()
        text = super().geom()
        if not self.in_fluid or self.chance(0.5):
            return text
        coefficients = self.maybe(0.5, fluidcoef=self.uniform(0.1, 1.5, 5))
        return element("geom", {"fluidshape": "ellipsoid", **coefficients}).replace("/>", text[len("<geom") :])

    def mesh_geom(self) -> str:
        """A geom of a mesh of its own: the hull of random points on an ellipsoid."""
        points = self.rng.standard_normal((self.rng.integers(6, 20), 3))
        points *= self.uniform(0.05, 0.15, 3) / np.linalg.norm(points, axis=1, keepdims=True)
        attributes = {"name": f"mesh{len(self.meshes)}", "vertex": points.ravel()}
        attributes |= self.maybe(0.3, scale=self.uniform(0.5, 1.5, 3)) | self.maybe(0.2, refpos=self.vector(0.1))
        self.meshes.append(element("mesh", attributes))
        geom = {"name": self.name("geom", self.names.geoms), "type": "mesh", "mesh": attributes["name"]}
        geom |= self.placement(0.1) | self.maybe(0.3, mass=self.uniform(0.1, 2))
        return element("geom", geom | self.contact_parameters("mesh"))

    def wrapped_geom(self) -> str:
        """A sphere or a cylinder with a site beside it."""
        kind = self.pick(("sphere", "cylinder"))
        place = self.placement(0.1)
        radius, name = self.uniform(0.03, 0.1), self.name("geom", self.names.geoms)
        side = self.name("site", self.names.sites)
        self.wraps.append((name, side if kind == "sphere" else ""))
        direction = self.vector()
        beside = place["pos"] + 2 * radius * direction / np.linalg.norm(direction)
        geom = {"name": name, "type": kind, "size": [radius, self.uniform(0.05, 0.2)][: 1 + (kind == "cylinder")]}
        text = element("geom", geom | place | self.contact_parameters(kind))
        return text + element("site", {"name": side, "pos": beside, "size": 0.02})

    # ---- tendons

    def tendon(self) -> str:
        content = [self.spatial() for _ in range(self.rng.integers(1, 4) if len(self.names.sites) > 1 else 0)]
        return super().tendon() + (element("tendon", {}, "".join(content)) if content else "")

    def spatial(self) -> str:
        """A tendon over sites, around geoms and over pulleys."""
        attributes: dict[str, Any] = {"name": self.name("tendon", self.names.tendons)}
        attributes |= self.maybe(0.6, stiffness=self.uniform(0.5, 50))
        attributes |= self.maybe(0.4, springlength=np.sort(self.uniform(0.1, 1, 2)))
        attributes |= self.maybe(0.4, damping=self.uniform(0.01, 1))
        attributes |= self.maybe(0.2, frictionloss=self.uniform(0.05, 1))
        if self.chance(0.3):
            self.names.limited_tendons.append(attributes["name"])
            attributes |= {"range": np.sort(self.uniform(0.1, 1, 2)), **self.maybe(0.5, margin=0.05)}
        branches = [self.branch() for _ in range(self.pick((1, 1, 2)))]
        path = branches[0]
        for branch in branches[1:]:
            path += element("pulley", {"divisor": self.uniform(1, 3)}) + branch
        return element("spatial", attributes, path)

    def branch(self) -> str:
        count = min(len(self.names.sites), int(self.rng.integers(2, 4)))
        sites = self.rng.choice(self.names.sites, count, replace=False)
        path = element("site", {"site": sites[0]})
        for site in sites[1:]:
            if self.wraps and self.chance(0.6):
                geom, side = self.pick(self.wraps)
                path += element("geom", {"geom": geom, **(self.maybe(0.5, sidesite=side) if side else {})})
            path += element("site", {"site": site})
        return path

    # ---- actuators

    def actuator(self) -> str:
        # those with activation come last, as in `ModelMaker.actuator`
        names = self.names
        stateless = [self.site_motor() for _ in range(self.rng.integers(0, 2) if names.sites else 0)]
        stateless += [self.adhesion() for _ in range(self.rng.integers(0, 2))]
        if len(names.sites) > 1 and self.integrator != "RK4" and self.chance(0.3):
            # under RK4 the reference adds up their moments (docs/differences.md)
            stateless.append(self.slider_crank())
        targets = [("tendon", name) for name in names.tendons] + [("joint", name) for name in names.scalar_joints]
        muscles = [self.muscle(*self.pick(targets)) for _ in range(self.rng.integers(0, 3) if targets else 0)]
        sections = [element("actuator", {}, "".join(drawn)) if drawn else "" for drawn in (stateless, muscles)]
        return sections[0] + super().actuator() + sections[1]

    def site_motor(self) -> str:
        attributes = {"name": self.name("actuator", self.names.actuators), "site": self.pick(self.names.sites)}
        if len(self.names.sites) > 1 and self.chance(0.5):
            # with a rotational gear the reference turns sites another way (docs/differences.md)
            others = [name for name in self.names.sites if name != attributes["site"]]
            attributes |= {"refsite": self.pick(others), "gear": [*self.vector(), 0, 0, 0]}
            return element("position", attributes | {"kp": self.uniform(1, 20)})
        return element("motor", attributes | {"gear": self.uniform(-2, 2, 6)})

    def adhesion(self) -> str:
        attributes = {"name": self.name("actuator", self.names.actuators), "body": self.pick(self.names.bodies)}
        return element("adhesion", attributes | {"ctrlrange": [0, 1], "gain": self.uniform(1, 20)})

    def slider_crank(self) -> str:
        crank, slider = self.rng.choice(self.names.sites, 2, replace=False)
        attributes = {"name": self.name("actuator", self.names.actuators), "cranksite": crank, "slidersite": slider}
        return element("motor", attributes | {"cranklength": self.uniform(0.2, 2)})

    def muscle(self, transmission: str, target: str) -> str:
        attributes = {"name": self.name("actuator", self.names.actuators), transmission: target}
        attributes |= {"lengthrange": np.sort(self.uniform(0.05, 1.5, 2)), "force": self.uniform(1, 50)}
        attributes |= self.maybe(0.5, timeconst=self.uniform(0.01, 0.1, 2)) | self.maybe(0.3, tausmooth=0.2)
        attributes |= self.maybe(0.4, range=[0.7, 1.1], lmin=0.4, lmax=1.7, vmax=1.2, fpmax=1.1, fvmax=1.3)
        return element("muscle", attributes | self.maybe(0.3, gear=self.uniform(0.5, 2)))

    # ---- settings

    def option(self) -> str:
        option: dict[str, Any] = {"timestep": self.uniform(0.0005, 0.01), "jacobian": self.pick(("dense", "sparse"))}
        option |= {"integrator": self.integrator, "cone": self.pick(("pyramidal", "elliptic"))}
        option |= self.maybe(0.3, solver="PGS", iterations=50) | self.maybe(0.2, noslip_iterations="5")
        if self.in_fluid:
            option |= {"density": self.uniform(1, 500), **self.maybe(0.7, viscosity=self.uniform(0, 0.5))}
            option |= self.maybe(0.5, wind=self.vector())
        return element("option", option, self.flags(False))

    def model(self) -> str:
        text = super().model()
        assets = element("asset", {}, "".join(self.meshes)) if self.meshes else ""
        return text.replace("<worldbody>", assets + "<worldbody>", 1)


def wide_model(seed: int, features: Features = Features()) -> str:  # noqa: B008
    """MJCF text of a random model with all features."""
    return WideModelMaker(seed, features).model()
