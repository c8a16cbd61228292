"""Random models: MJCF text and states, each the outcome of a seed.

`random_model(seed, features)` draws a forest of bodies with all kinds of joints, geoms, inertias, tendons, actuators,
equality constraints, contacts and sensors. `Features` says what may occur, so that an invariant that holds without
dissipation, say, gets models without.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings, strategies

FLAGS = (
    *("eulerdamp", "refsafe", "filterparent", "warmstart", "midphase", "clampctrl", "passive", "actuation", "limit"),
    *("equality", "contact", "frictionloss", "gravity", "sensor"),
)
SEEDS = strategies.integers(0, 2**32 - 1)


def fixed_examples(count: int) -> settings:
    """Settings of Hypothesis under which a test always sees the same examples."""
    return settings(
        max_examples=count, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )


@dataclass(frozen=True)
class Features:
    """What may occur in a random model.

    Attributes:
        bodies: largest number of bodies that move.
        dissipation: damping and friction loss.
        springs: joint and tendon springs.
        actuators: actuators of all kinds.
        tendons: fixed tendons.
        equalities: equality constraints.
        limits: limits of joints and tendons.
        contacts: geoms that collide, and planes to land on.
        sensors: sensors of all kinds.
        mocap: bodies moved by the user.
        gravcomp: compensation of gravity.
        fixed_base: False puts a free joint below every tree.
        options: attributes of `<option>`, instead of random ones.
    """

    bodies: int = 8
    dissipation: bool = True
    springs: bool = True
    actuators: bool = True
    tendons: bool = True
    equalities: bool = True
    limits: bool = True
    contacts: bool = True
    sensors: bool = True
    mocap: bool = True
    gravcomp: bool = True
    fixed_base: bool = True
    options: dict[str, str] = field(default_factory=dict)


SMOOTH = Features(
    dissipation=False,
    actuators=False,
    equalities=False,
    limits=False,
    contacts=False,
    sensors=False,
    mocap=False,
    gravcomp=False,
    options={"integrator": "RK4", "timestep": "0.001"},
)
"""Only smooth forces that come from a potential."""

FLOATING = Features(
    dissipation=False,
    actuators=False,
    tendons=False,
    equalities=False,
    limits=False,
    contacts=False,
    sensors=False,
    mocap=False,
    gravcomp=False,
    fixed_base=False,
    options={"gravity": "0 0 0", "timestep": "0.001", "integrator": "RK4"},
)
"""Trees that nothing holds."""


@dataclass
class Names:
    """Names of the elements drawn so far, and of the scalar joints and the ball joints among them."""

    bodies: list[str] = field(default_factory=list)
    roots: list[str] = field(default_factory=list)
    geoms: list[str] = field(default_factory=list)
    sites: list[str] = field(default_factory=list)
    scalar_joints: list[str] = field(default_factory=list)
    limited_joints: list[str] = field(default_factory=list)
    ball_joints: list[str] = field(default_factory=list)
    free_joints: list[str] = field(default_factory=list)
    tendons: list[str] = field(default_factory=list)
    limited_tendons: list[str] = field(default_factory=list)
    actuators: list[str] = field(default_factory=list)
    mocap: list[str] = field(default_factory=list)


def numbers(values: Any) -> str:
    """Values as MJCF text."""
    return " ".join(f"{value:.5g}" for value in np.atleast_1d(values))


def element(tag: str, attributes: dict[str, Any], content: str = "") -> str:
    """One MJCF element; numbers and arrays become text."""
    text = "".join(
        f' {key}="{value if isinstance(value, str) else numbers(value)}"' for key, value in attributes.items()
    )
    return f"<{tag}{text}>{content}</{tag}>" if content else f"<{tag}{text}/>"


class ModelMaker:
    """Draws one model; the methods draw one kind of element each and return MJCF text."""

    def __init__(self, seed: int, features: Features):
        self.rng = np.random.default_rng(seed)
        self.features = features
        self.names = Names()
        self.bodies_left = int(self.rng.integers(1, features.bodies + 1))

    # ---- chance

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def pick(self, choices: Sequence[Any]) -> Any:
        return choices[self.rng.integers(len(choices))]

    def uniform(self, low: float, high: float, n: int | None = None) -> Any:
        return self.rng.uniform(low, high, n)

    def vector(self, scale: float = 1.0) -> np.ndarray:
        return scale * self.rng.standard_normal(3)

    def maybe(self, probability: float, **attributes: Any) -> dict[str, Any]:
        """The attributes, or none of them."""
        return attributes if self.chance(probability) else {}

    def name(self, kind: str, group: list[str]) -> str:
        group.append(f"{kind}{len(group)}")
        return group[-1]

    # ---- frames

    def orientation(self) -> dict[str, Any]:
        kinds: tuple[Callable[[], dict[str, Any]], ...] = (
            dict,
            lambda: {"quat": self.uniform(-1, 1, 4)},
            lambda: {"axisangle": [*self.vector(), self.uniform(-3, 3)]},
            lambda: {"euler": self.uniform(-3, 3, 3)},
            lambda: {"xyaxes": [*self.vector(), *self.vector()]},
            lambda: {"zaxis": self.vector()},
        )
        return self.pick(kinds)()

    def placement(self, scale: float = 0.3) -> dict[str, Any]:
        return {"pos": self.vector(scale), **self.orientation()}

    # ---- bodies

    def tree(self, depth: int = 0) -> str:
        """A body with its subtree."""
        self.bodies_left -= 1
        name = self.name("body", self.names.bodies)
        if depth == 0:
            self.names.roots.append(name)
        attributes = {"name": name, **self.placement(0.3 if depth else 0.6)}
        if self.features.gravcomp:
            attributes |= self.maybe(0.15, gravcomp=self.uniform(-0.5, 1.5))
        content = [*self.joints(depth), *self.inertial(), *(self.geom() for _ in range(self.rng.integers(1, 3)))]
        content += [self.site() for _ in range(self.rng.integers(0, 2))]
        while self.bodies_left > 0 and self.chance(0.65 if depth < 5 else 0.0):
            content.append(self.framed(self.tree(depth + 1)))
        return element("body", attributes, "".join(content))

    def framed(self, content: str) -> str:
        return element("frame", self.placement(), content) if self.chance(0.15) else content

    def inertial(self) -> list[str]:
        if not self.chance(0.25):
            return []
        attributes = {"pos": self.vector(0.1), "mass": self.uniform(0.1, 2)}
        # moments of a cloud of masses: the triangle inequality holds
        spread = 0.05 * self.rng.standard_normal((3, 3))
        covariance = spread @ spread.T + 1e-3 * np.eye(3)
        inertia = np.trace(covariance) * np.eye(3) - covariance
        if self.chance(0.5):
            xx, yy, zz, xy, xz, yz = (inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
            return [element("inertial", {**attributes, "fullinertia": [xx, yy, zz, xy, xz, yz]})]
        # the reference ignores every other way to give this orientation (docs/differences.md)
        attributes["quat"] = self.uniform(-1, 1, 4)
        return [element("inertial", {**attributes, "diaginertia": np.linalg.eigvalsh(inertia)})]

    # ---- joints

    def joints(self, depth: int) -> list[str]:
        if depth == 0 and (not self.features.fixed_base or self.chance(0.4)):
            return [self.free_joint()]
        kinds = self.pick(
            (
                ("hinge",),
                ("slide",),
                ("ball",),
                ("hinge", "hinge"),
                ("slide", "hinge"),
                ("slide", "slide", "hinge"),
                ("slide", "ball"),
                ("slide", "slide", "ball"),
                ("hinge", "hinge", "hinge"),
                (),
            )
        )
        return [self.joint(kind) for kind in kinds]

    def free_joint(self) -> str:
        name = self.name("free", self.names.free_joints)
        if self.chance(0.5):
            return element("freejoint", {"name": name})
        attributes = {"name": name, "type": "free", **self.inertia_of_joint()}
        if self.features.springs and self.features.fixed_base:
            attributes |= self.maybe(0.2, stiffness=self.uniform(1, 20))
        if self.features.dissipation:
            attributes |= self.maybe(0.3, damping=self.uniform(0.01, 1))
            attributes |= self.maybe(0.15, frictionloss=self.uniform(0.05, 1))
        return element("joint", attributes)

    def inertia_of_joint(self) -> dict[str, Any]:
        # an armature on a root breaks the conservation of momentum: it is inertia against the world
        return self.maybe(0.3, armature=self.uniform(0.001, 0.1)) if self.features.fixed_base else {}

    def joint(self, kind: str) -> str:
        names = self.names.ball_joints if kind == "ball" else self.names.scalar_joints
        name = self.name("ball" if kind == "ball" else "joint", names)
        attributes = {"name": name, "type": kind, **self.maybe(0.6, pos=self.vector(0.15)), **self.inertia_of_joint()}
        if kind != "ball":
            attributes |= {"axis": self.vector(), **self.maybe(0.2, ref=self.uniform(-0.5, 0.5))}
        if self.features.springs:
            attributes |= self.maybe(0.3, stiffness=self.uniform(0.5, 30))
            if kind != "ball":
                attributes |= self.maybe(0.3, springref=self.uniform(-0.5, 0.5))
        if self.features.dissipation:
            attributes |= self.maybe(0.4, damping=self.uniform(0.01, 1))
            attributes |= self.maybe(0.2, springdamper=self.uniform(0.3, 1.5, 2))
            attributes |= self.maybe(0.2, frictionloss=self.uniform(0.05, 1), **self.friction_parameters())
        if self.features.limits and self.chance(0.4):
            attributes |= self.joint_limit(kind, name)
        if self.features.actuators:
            attributes |= self.maybe(0.15, actuatorfrcrange=[-self.uniform(0.1, 2), self.uniform(0.1, 2)])
            attributes |= self.maybe(0.15, actuatorgravcomp="true")
        return element("joint", attributes)

    def joint_limit(self, kind: str, name: str) -> dict[str, Any]:
        low = 0.0 if kind == "ball" else -self.uniform(0.05, 1)
        if kind != "ball":
            self.names.limited_joints.append(name)
        return {
            "range": [low, self.uniform(0.1, 1)],
            **self.maybe(0.3, margin=self.uniform(0.0, 0.2)),
            **self.maybe(0.3, solreflimit=self.solref(), solimplimit=self.solimp()),
        }

    # ---- parameters of the constraint solver

    def solref(self) -> list[float]:
        if self.chance(0.3):
            return [-self.uniform(20, 500), -self.uniform(1, 50)]
        return [self.uniform(0.01, 0.1), self.uniform(0.5, 1.5)]

    def solimp(self) -> list[float]:
        low, high = np.sort(self.uniform(0.1, 0.98, 2))
        return [low, high, self.uniform(0.001, 0.1), self.uniform(0.1, 0.9), float(self.rng.integers(1, 5))]

    def friction_parameters(self) -> dict[str, Any]:
        return self.maybe(0.3, solreffriction=self.solref(), solimpfriction=self.solimp())

    # ---- geoms and sites

    def geom(self) -> str:
        kind = self.pick(("sphere", "capsule", "sphere", "capsule", "box", "cylinder", "ellipsoid"))
        attributes = {"name": self.name("geom", self.names.geoms), "type": kind, **self.geom_shape(kind)}
        attributes |= self.maybe(0.4, density=self.uniform(200, 2000)) or self.maybe(0.3, mass=self.uniform(0.1, 2))
        return element("geom", {**attributes, **self.contact_parameters(kind)})

    def geom_shape(self, kind: str) -> dict[str, Any]:
        radius, length = self.uniform(0.03, 0.12), self.uniform(0.05, 0.2)
        size = {"sphere": [radius], "capsule": [radius, length], "cylinder": [radius, length]}
        if kind in ("capsule", "cylinder", "box") and self.chance(0.3):
            return {"fromto": [*self.vector(0.2), *self.vector(0.2)], "size": [radius]}
        return {"size": size.get(kind, self.uniform(0.03, 0.15, 3)), **self.placement(0.1)}

    def contact_parameters(self, kind: str) -> dict[str, Any]:
        if not self.features.contacts:
            return {"contype": "0", "conaffinity": "0"}
        # boxes, cylinders and ellipsoids meet planes only
        round_shape = kind in ("sphere", "capsule")
        attributes = {"contype": "1" if round_shape else "2", "conaffinity": "1" if round_shape else "0"}
        if kind == "plane":
            attributes = {"contype": "3", "conaffinity": "3"}
        attributes |= self.maybe(0.6, condim=self.pick("1346"))
        attributes |= self.maybe(0.5, friction=self.uniform([0.2, 0.001, 0.0001], [1.5, 0.1, 0.05], 3))
        attributes |= self.maybe(0.2, solref=self.solref(), solimp=self.solimp())
        attributes |= self.maybe(0.3, solmix=self.uniform(0.1, 2)) | self.maybe(0.2, priority=self.pick("12"))
        margin = self.uniform(0.0, 0.1)
        return attributes | self.maybe(0.3, margin=margin, gap=margin * self.uniform(0, 0.8))

    def site(self) -> str:
        kind = self.pick(("sphere", "capsule", "box", "cylinder", "ellipsoid"))
        name = self.name("site", self.names.sites)
        return element("site", {"name": name, "type": kind, "size": self.uniform(0.1, 0.3, 3), **self.placement(0.1)})

    # ---- the world

    def worldbody(self) -> str:
        content = []
        if self.features.contacts:
            content.append(self.plane(self.orientation() if self.chance(0.2) else {}))
            content += [self.geom() for _ in range(self.rng.integers(0, 2))]
        while self.bodies_left > 0:
            content.append(self.framed(self.tree()))
        if self.features.mocap and self.chance(0.3):
            name = self.name("mocap", self.names.mocap)
            content.append(element("body", {"name": name, "mocap": "true", **self.placement()}, self.geom()))
        camera = element("camera", {"name": "camera", "resolution": "640 480", **self.placement(1)})
        return element("worldbody", {}, "".join(content) + camera)

    def plane(self, orientation: dict[str, Any]) -> str:
        attributes = {"type": "plane", "pos": [0, 0, -self.uniform(0.0, 0.8)], "size": "5 5 1", **orientation}
        name = self.name("geom", self.names.geoms)
        return element("geom", {"name": name, **attributes, **self.contact_parameters("plane")})

    # ---- relations

    def tendon(self) -> str:
        content = []
        joints = self.names.scalar_joints
        if not self.features.tendons or not joints:
            return ""
        for _ in range(self.rng.integers(0, 3)):
            attributes: dict[str, Any] = {"name": self.name("tendon", self.names.tendons)}
            if self.features.springs:
                spring = {"stiffness": self.uniform(0.5, 20)}
                spring |= self.maybe(0.5, springlength=np.sort(self.uniform(-0.2, 0.5, 2)))
                attributes |= self.maybe(0.5, **spring)
            if self.features.dissipation:
                attributes |= self.maybe(0.4, damping=self.uniform(0.01, 1))
                attributes |= self.maybe(0.3, frictionloss=self.uniform(0.05, 1), **self.friction_parameters())
            if self.features.limits and self.chance(0.4):
                self.names.limited_tendons.append(attributes["name"])
                attributes |= {"range": [-self.uniform(0.01, 0.5), self.uniform(0.01, 0.5)]}
                attributes |= self.maybe(0.3, solreflimit=self.solref(), solimplimit=self.solimp())
                attributes |= self.maybe(0.3, margin=self.uniform(0.0, 0.2))
            count = self.rng.integers(1, min(4, len(joints)) + 1)
            wraps = [
                element("joint", {"joint": joint, "coef": self.uniform(-2, 2)})
                for joint in self.rng.choice(joints, count, replace=False)
            ]
            content.append(element("fixed", attributes, "".join(wraps)))
        return element("tendon", {}, "".join(content)) if content else ""

    def equality(self) -> str:
        if not self.features.equalities:
            return ""
        every = (self.connect, self.couple, self.weld)
        kinds = self.pick(((), (), (self.connect,), (self.weld,), (self.couple,), every))
        content = "".join(kind() for kind in kinds)
        return element("equality", {}, content) if content else ""

    def equality_parameters(self) -> dict[str, Any]:
        parameters = self.maybe(0.5, solref=self.solref(), solimp=self.solimp())
        return parameters | self.maybe(0.15, active="false")

    def two_bodies(self) -> dict[str, Any] | None:
        bodies = self.names.bodies + self.names.mocap
        first = self.pick(self.names.bodies)
        others = [body for body in bodies if body != first]
        return {"body1": first, **({"body2": self.pick(others)} if others and self.chance(0.7) else {})}

    def connect(self) -> str:
        return element("connect", {**self.two_bodies(), "anchor": self.vector(0.2), **self.equality_parameters()})

    def weld(self) -> str:
        attributes = {**self.two_bodies(), **self.maybe(0.5, anchor=self.vector(0.2))}
        attributes |= self.maybe(0.3, relpose=[*self.vector(0.3), *self.uniform(-1, 1, 4)])
        return element(
            "weld", {**attributes, **self.maybe(0.5, torquescale=self.uniform(0.2, 2)), **self.equality_parameters()}
        )

    def couple(self) -> str:
        """A constraint between two joints or two tendons, or of one."""
        kind = self.pick(("joint", "tendon"))
        candidates = self.names.scalar_joints if kind == "joint" else self.names.tendons
        if not candidates:
            return ""
        chosen = self.rng.permutation(candidates)[: self.rng.integers(1, 3)]
        attributes = {f"{kind}{i + 1}": name for i, name in enumerate(chosen)}
        return element(kind, {**attributes, "polycoef": self.uniform(-0.5, 1, 5), **self.equality_parameters()})

    def contact(self) -> str:
        if not self.features.contacts:
            return ""
        content = ""
        if len(self.names.bodies) > 1 and self.chance(0.3):
            body1, body2 = self.rng.choice(self.names.bodies, 2, replace=False)
            content += element("exclude", {"body1": body1, "body2": body2})
        if self.chance(0.3):
            attributes = {"geom1": "geom0", "geom2": self.pick(self.names.geoms[1:])}
            attributes |= self.maybe(0.5, condim=self.pick("1346")) | self.maybe(0.3, margin=0.05, gap=0.01)
            attributes |= self.maybe(0.5, friction=self.uniform(0.01, 1, 5))
            attributes |= self.maybe(0.3, solref=self.solref(), solimp=self.solimp())
            attributes |= self.maybe(0.2, solreffriction=self.solref())
            content += element("pair", attributes)
        return element("contact", {}, content) if content else ""

    # ---- actuators

    def actuator(self) -> str:
        if not self.features.actuators:
            return ""
        transmissions = [("joint", joint) for joint in self.names.scalar_joints + self.names.ball_joints]
        transmissions += [("joint", joint) for joint in self.names.free_joints]
        transmissions += [("jointinparent", joint) for _, joint in transmissions]
        transmissions += [("tendon", tendon) for tendon in self.names.tendons]
        if not transmissions:
            return ""
        drawn = [self.one_actuator(*self.pick(transmissions)) for _ in range(self.rng.integers(0, 5))]
        # the reference takes activations for those of the last actuators in its derivatives (docs/differences.md)
        drawn.sort(key=lambda text: "timeconst" in text or 'dyntype="f' in text or 'dyntype="i' in text)
        return element("actuator", {}, "".join(drawn)) if drawn else ""

    def one_actuator(self, transmission: str, target: str) -> str:
        scalar = target in self.names.scalar_joints + self.names.tendons
        kind = self.pick(("motor", "position", "velocity", "general", "general"))
        gear = self.uniform(0.3, 3, 1) if scalar else self.uniform(-2, 2, 6)
        attributes = {"name": self.name("actuator", self.names.actuators), transmission: target}
        attributes |= self.maybe(0.5 if scalar else 0.9, gear=gear)
        attributes |= self.maybe(0.3, ctrlrange=np.sort(self.uniform(-1, 1, 2)))
        attributes |= self.maybe(0.3, forcerange=[-self.uniform(0.1, 5), self.uniform(0.1, 5)])
        attributes |= self.maybe(0.3, group=self.pick("0123"))
        return element(kind, attributes | getattr(self, f"{kind}_parameters")(target))

    def motor_parameters(self, target: str) -> dict[str, Any]:
        return {}

    def velocity_parameters(self, target: str) -> dict[str, Any]:
        return {"kv": self.uniform(0.1, 3)}

    def position_parameters(self, target: str) -> dict[str, Any]:
        attributes = {"kp": self.uniform(1, 30)}
        damping = self.maybe(0.3, kv=self.uniform(0.1, 2))
        if not damping and target in self.names.scalar_joints:
            damping = self.maybe(0.3, dampratio=self.uniform(0.2, 1.5))
        return attributes | damping | self.maybe(0.3, timeconst=self.uniform(0.02, 0.5))

    def general_parameters(self, target: str) -> dict[str, Any]:
        dynamics = self.pick(("none", "integrator", "filter", "filterexact"))
        gain, bias = self.pick(("fixed", "affine")), self.pick(("none", "affine"))
        attributes: dict[str, Any] = {"dyntype": dynamics, "gaintype": gain, "biastype": bias}
        attributes |= {"gainprm": self.uniform(-2, 5, 3), "biasprm": self.uniform(-3, 1, 3)}
        if dynamics != "none":
            attributes |= {"dynprm": self.uniform(0.02, 0.5)}
            attributes |= self.maybe(0.3, actrange=[-self.uniform(0.1, 1), self.uniform(0.1, 1)])
            attributes |= self.maybe(0.3, actearly="true")
        return attributes

    # ---- sensors

    def sensor(self) -> str:
        if not self.features.sensors:
            return ""
        content = element("clock", {})
        for attribute, names, kinds in self.sensor_kinds():
            for _ in range(self.rng.integers(0, 3) if names else 0):
                kind = self.pick(kinds)
                content += element(kind, {attribute: self.pick(names), **self.cutoff(kind)})
        for _ in range(self.rng.integers(0, 6)):
            content += self.frame_sensor()
        if self.names.sites and self.chance(0.3):
            content += element("camprojection", {"site": self.pick(self.names.sites), "camera": "camera"})
        return element("sensor", {}, content)

    def sensor_kinds(self) -> tuple[tuple[str, list[str], tuple[str, ...]], ...]:
        """Attribute that names the object, objects to choose from, kinds of sensors."""
        names = self.names
        return (
            (
                "site",
                names.sites,
                ("touch", "accelerometer", "velocimeter", "gyro", "force", "torque", "magnetometer"),
            ),
            ("joint", names.scalar_joints, ("jointpos", "jointvel", "jointactuatorfrc")),
            ("joint", names.ball_joints, ("ballquat", "ballangvel")),
            ("joint", names.limited_joints, ("jointlimitpos", "jointlimitvel", "jointlimitfrc")),
            ("tendon", names.tendons, ("tendonpos", "tendonvel")),
            ("tendon", names.limited_tendons, ("tendonlimitpos", "tendonlimitvel", "tendonlimitfrc")),
            ("actuator", names.actuators, ("actuatorpos", "actuatorvel", "actuatorfrc")),
            ("body", names.bodies, ("subtreecom", "subtreelinvel", "subtreeangmom")),
        )

    def cutoff(self, kind: str) -> dict[str, Any]:
        return self.maybe(0.2, cutoff=self.uniform(0.05, 1)) if not kind.endswith(("quat", "axis")) else {}

    def framed_object(self) -> tuple[str, str]:
        names = self.names
        objects = [("body", body) for body in names.bodies + names.mocap] + [("xbody", body) for body in names.bodies]
        objects += [("geom", geom) for geom in names.geoms] + [("site", site) for site in names.sites]
        return self.pick([*objects, ("camera", "camera")])

    def frame_sensor(self) -> str:
        kinds = ("pos", "quat", "xaxis", "yaxis", "zaxis", "linvel", "angvel", "linacc", "angacc")
        kind = self.pick(kinds)
        attributes = dict(zip(("objtype", "objname"), self.framed_object(), strict=True))
        if not kind.endswith("acc") and self.chance(0.5):
            attributes |= dict(zip(("reftype", "refname"), self.framed_object(), strict=True))
        return element(f"frame{kind}", {**attributes, **self.cutoff(kind)})

    # ---- settings

    def settings(self) -> str:
        compiler = {"angle": "radian", **self.maybe(0.2, balanceinertia="true"), **self.maybe(0.2, eulerseq="XYZ")}
        compiler |= self.maybe(0.2, inertiafromgeom=self.pick(("auto", "true"))) | self.maybe(0.1, settotalmass=3.0)
        return element("compiler", compiler) + self.option()

    def option(self) -> str:
        if self.features.options:
            return element("option", self.features.options, element("flag", {"energy": "enable"}))
        option: dict[str, Any] = {"timestep": self.uniform(0.0005, 0.01), "jacobian": self.pick(("dense", "sparse"))}
        option |= {"integrator": self.pick(("Euler", "implicitfast", "RK4"))}
        option |= {"cone": self.pick(("pyramidal", "elliptic"))}
        option |= self.maybe(0.3, gravity=self.vector(5)) | self.maybe(0.4, impratio=self.uniform(0.5, 5))
        if option["integrator"] != "implicitfast":
            # the reference keeps the derivatives of disabled actuators (docs/differences.md)
            option |= self.maybe(0.1, actuatorgroupdisable=self.pick("123"))
        if self.features.contacts:
            override = {"o_solref": self.solref(), "o_solimp": self.solimp(), "o_margin": 0.01}
            option |= self.maybe(0.1, **override)
        return element("option", option, self.flags("o_margin" in option))

    def flags(self, override: bool) -> str:
        flags = {"energy": self.pick(("enable", "disable")), **({"override": "enable"} if override else {})}
        for name in FLAGS:
            flags |= self.maybe(0.06, **{name: "disable"})
        return element("flag", flags)

    def model(self) -> str:
        world = self.worldbody()
        relations = "".join((self.tendon(), self.equality(), self.contact(), self.actuator(), self.sensor()))
        return element("mujoco", {}, self.settings() + world + relations)


def random_model(seed: int, features: Features = Features()) -> str:
    """MJCF text of a random model."""
    return ModelMaker(seed, features).model()


def random_state(engine: Any, m: Any, d: Any, seed: int, speed: float = 1.0) -> None:
    """Draw positions, velocities, activations and inputs. Works on the data of either engine."""
    rng = np.random.default_rng(seed)
    qpos = m.qpos0.copy()
    engine.mj_integratePos(m, qpos, 0.4 * rng.standard_normal(m.nv), 1)
    d.qpos[:], d.qvel[:] = qpos, speed * rng.standard_normal(m.nv)
    d.act[:], d.ctrl[:] = 0.3 * rng.standard_normal(m.na), rng.standard_normal(m.nu)
    d.time = rng.random()


def random_inputs(m: Any, d: Any, seed: int) -> None:
    """Draw applied forces, poses of mocap bodies, and which equality constraints are on."""
    rng = np.random.default_rng(seed)
    d.qfrc_applied[:], d.xfrc_applied[1:] = rng.standard_normal(m.nv), rng.standard_normal((m.nbody - 1, 6))
    d.mocap_pos[:] += 0.1 * rng.standard_normal((m.nmocap, 3))
    d.mocap_quat[:] += 0.2 * rng.standard_normal((m.nmocap, 4))
    if rng.random() < 0.2:
        d.eq_active[:] = rng.integers(0, 2, m.neq)
