"""Random composite objects: every type, with any combination of attributes and sub-elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

Random = np.random.Generator

DEFAULTS = """
<default>
  <geom friction="1.5 .01 .001" rgba=".2 .3 .4 1" condim="4"/>
  <joint damping=".3" range="-1 1"/>
  <site size=".03"/>
  <tendon width=".01" stiffness="2"/>
  <equality solref=".03 1.2"/>
  <default class="soft"><geom solref=".05 1" mass=".3"/><joint armature=".02"/></default>
</default>"""


def number(rng: Random, low: float, high: float) -> str:
    """A random number as text, with few digits."""
    return f"{rng.uniform(low, high):.3g}"


def some(rng: Random, choices: dict[str, Callable[[], str]], share: float = 0.3) -> str:
    """A random choice of attributes as text."""
    return "".join(f' {name}="{value()}"' for name, value in choices.items() if rng.random() < share)


def solver(rng: Random, suffix: str) -> dict[str, Callable[[], str]]:
    """Attributes of an equality constraint, a limit or a friction loss."""
    return {
        f"solref{suffix}": lambda: number(rng, 0.01, 0.1) + (" " + number(rng, 0.5, 1.5) if rng.random() < 0.5 else ""),
        f"solimp{suffix}": lambda: " ".join([number(rng, 0.3, 0.6), number(rng, 0.7, 0.99)][: rng.integers(1, 3)]),
    }


def passive(rng: Random) -> dict[str, Callable[[], str]]:
    """Attributes that joints and tendons share."""
    return {
        "group": lambda: str(rng.integers(0, 6)),
        "stiffness": lambda: number(rng, 0, 5),
        "damping": lambda: number(rng, 0, 2),
        "limited": lambda: str(rng.choice(["true", "false", "auto"])),
        "range": lambda: f"{number(rng, 0, 0.1)} {number(rng, 0.2, 1)}",
        "margin": lambda: number(rng, 0, 0.1),
        "frictionloss": lambda: number(rng, 0, 0.1),
        **solver(rng, "fix"),
        **solver(rng, "limit"),
        **solver(rng, "friction"),
    }


def look(rng: Random) -> dict[str, Callable[[], str]]:
    """Group, material and colour."""
    return {
        "group": lambda: str(rng.integers(0, 6)),
        "material": lambda: "cloth",
        "rgba": lambda: " ".join(number(rng, 0, 1) for _ in range(4)),
    }


def joint(rng: Random, kind: str, share: float = 0.3) -> str:
    """A joint of a kind."""
    choices = passive(rng) | {"armature": lambda: number(rng, 0.001, 0.1)}
    own = ""
    if kind == "particle":
        own = f' type="{rng.choice(["slide", "hinge"])}" axis="{" ".join(number(rng, 0.1, 1) for _ in range(3))}"'
    return f'<joint kind="{kind}"{own}{some(rng, choices, share)}/>'


def tendon(rng: Random, kind: str) -> str:
    """A tendon of a kind."""
    return f'<tendon kind="{kind}"{some(rng, passive(rng) | look(rng) | {"width": lambda: number(rng, 0, 0.02)})}/>'


def geom(rng: Random, shapes: Iterable[str], sizes: int = 3) -> str:
    """The geoms: one of some shapes."""
    choices = look(rng) | {
        "contype": lambda: str(rng.integers(0, 4)),
        "conaffinity": lambda: str(rng.integers(0, 4)),
        "condim": lambda: str(rng.choice([1, 3, 4, 6])),
        "priority": lambda: str(rng.integers(0, 3)),
        "friction": lambda: " ".join(number(rng, 0.001, 2) for _ in range(rng.integers(1, 4))),
        "solmix": lambda: number(rng, 0.1, 2),
        "margin": lambda: number(rng, 0.01, 0.02),
        "gap": lambda: number(rng, 0, 0.01),
        "density": lambda: number(rng, 100, 2000),
        "mass": lambda: number(rng, 0.01, 1),
        **solver(rng, ""),
    }
    size = " ".join(number(rng, 0.01, 0.03) for _ in range(sizes))
    return f'<geom type="{rng.choice(list(shapes))}" size="{size}"{some(rng, choices, 0.2)}/>'


def site(rng: Random) -> str:
    """The sites, now and then."""
    return f"<site{some(rng, look(rng) | {'size': lambda: number(rng, 0.01, 0.1)})}/>" if rng.random() < 0.4 else ""


def skin(rng: Random, subgrids: tuple[int, ...], share: float = 0.5) -> str:
    """A skin, now and then."""
    if rng.random() > share:
        return ""
    choices = look(rng) | {"inflate": lambda: number(rng, 0, 0.1), "texcoord": lambda: "true"}
    return f'<skin subgrid="{rng.choice(list(subgrids))}"{some(rng, choices, 0.4)}/>'


def counts(rng: Random, low: tuple[int, int, int], high: tuple[int, int, int]) -> list[int]:
    """Random counts between bounds."""
    return [int(rng.integers(a, b + 1)) for a, b in zip(low, high, strict=True)]


def text_of(numbers: Iterable[object]) -> str:
    """Numbers with spaces between them."""
    return " ".join(str(value) for value in numbers)


def maybe(rng: Random, *parts: str) -> str:
    """Each of the parts, or not."""
    return "".join(part for part in parts if rng.random() < 0.5)


def particle(rng: Random) -> tuple[str, str]:
    """Particles in a grid of any dimension, or at vertices with or without faces."""
    joints = [joint(rng, "particle") for _ in range(rng.integers(1, 4))] if rng.random() < 0.4 else [joint(rng, "main")]
    shapes = ("sphere", "capsule", "ellipsoid", "box", "cylinder")
    parts = [geom(rng, shapes), site(rng), maybe(rng, *joints, tendon(rng, "main"), tendon(rng, "shear"))]
    if rng.random() < 0.3:
        number_of = int(rng.integers(3, 9))
        head = f'vertex="{text_of(np.round(rng.normal(size=3 * number_of), 3))}"'
        faces = [rng.choice(number_of, 3, replace=False) + 1 for _ in range(rng.integers(1, 6))]
        if rng.random() < 0.6:
            head += f' face="{text_of(np.concatenate(faces))}"'
        return head, "".join([*parts, skin(rng, (0,))])
    dimension = int(rng.integers(0, 4))
    size = counts(rng, (2, 2, 2), (4, 4, 3))[:dimension] + [1] * (3 - dimension)
    subgrids = (0, 1, 2, 3, 4) if dimension == 2 and min(size[:2]) > 2 else (0,)
    return f'count="{text_of(size)}" spacing="{number(rng, 0.05, 0.3)}"', "".join([*parts, skin(rng, subgrids)])


def grid(rng: Random) -> tuple[str, str]:
    """A string or a sheet."""
    is_sheet = rng.random() < 0.7
    size = counts(rng, (2, 2, 1), (5, 4, 1)) if is_sheet else [int(rng.integers(1, 6)), 1, 1]
    parts = [
        geom(rng, ("sphere", "capsule", "ellipsoid")),
        site(rng),
        maybe(rng, joint(rng, "main"), tendon(rng, "main")),
    ]
    for _ in range(rng.integers(0, 3)):
        parts.append(f'<pin coord="{text_of(rng.integers(0, 4, size=rng.integers(1, 3)))}"/>')
    if is_sheet:
        parts += [maybe(rng, tendon(rng, "shear")), skin(rng, (0, 1, 2, 4) if min(size[:2]) > 2 else (0,))]
    return f'count="{text_of(size)}" spacing="{number(rng, 0.05, 0.3)}"', "".join(parts)


def shell(rng: Random) -> tuple[str, str]:
    """A soft solid."""
    parts = [geom(rng, ("sphere", "capsule", "ellipsoid")), site(rng), skin(rng, (0,))]
    parts.append(maybe(rng, joint(rng, "main"), tendon(rng, "main")))
    size = text_of(counts(rng, (2, 2, 2), (4, 4, 4)))
    return f'count="{size}" spacing="{number(rng, 0.05, 0.2)}"{some(rng, solver(rng, "smooth"))}', "".join(parts)


def loop(rng: Random) -> tuple[str, str]:
    """A closed chain."""
    joints = maybe(rng, joint(rng, "main"), joint(rng, "twist"), joint(rng, "stretch"))
    parts = [geom(rng, ("sphere", "capsule", "ellipsoid")), site(rng), joints]
    head = f'count="{rng.integers(3, 8)} 1 1" spacing="{number(rng, 0.05, 0.3)}"{some(rng, solver(rng, "smooth"))}'
    return head, "".join(parts)


def cable(rng: Random) -> tuple[str, str]:
    """A rod along a curve or through vertices."""
    subgrids = (0, 0, 1, 4)
    parts = [geom(rng, ("capsule", "cylinder", "box")), site(rng), skin(rng, subgrids), maybe(rng, joint(rng, "main"))]
    pieces = int(rng.integers(4, 10))
    if rng.random() < 0.5:
        return f'vertex="{text_of(np.round(rng.normal(size=3 * pieces), 4))}"', "".join(parts)
    words = ["s", *rng.choice(["s", "cos(s)", "sin(s)", "0"], rng.integers(0, 3))]
    rng.shuffle(words)
    size = " ".join(number(rng, 0.2, 3) for _ in range(rng.integers(1, 4)))
    return f'count="{pieces} 1 1" curve="{" ".join(words)}" size="{size}"', "".join(parts)


TYPES: dict[str, Callable[[Random], tuple[str, str]]] = {
    "particle": particle,
    "grid": grid,
    "box": shell,
    "cylinder": shell,
    "ellipsoid": shell,
    "loop": loop,
    "cable": cable,
}


def random_composite(rng: Random, kind: str | None = None) -> str:
    """A model with one composite object of a type, a random one if none is given."""
    kind = kind or str(rng.choice(list(TYPES)))
    attributes, parts = TYPES[kind](rng)
    prefix = str(rng.choice(["", "Soft_"]))
    if prefix:
        attributes += f' prefix="{prefix}"'
    if rng.random() < 0.5:
        attributes += f' offset="{text_of(np.round(rng.normal(size=3), 3))}"'
    if rng.random() < 0.3:
        attributes += f' flatinertia="{number(rng, 0, 0.1)}"'
    with_defaults = rng.random() < 0.5
    movable = kind in ("cable", "particle") and rng.random() < 0.5
    if kind == "cable":
        attributes += f' initial="{rng.choice(["ball", "none", *(["free"] if movable else [])])}"'
    composite = f'<composite type="{kind}" {attributes}>{parts}</composite>'
    if not movable:
        klass = ' childclass="soft"' if with_defaults and rng.random() < 0.5 else ""
        joints = "<freejoint/>" if rng.random() < 0.5 else ""
        name = f"{prefix}B0" if kind == "loop" else "core"
        composite = f'<body name="{name}" pos="0 0 2"{klass}>{joints}<geom size=".05"/>{composite}</body>'
    return f"""<mujoco>{DEFAULTS if with_defaults else ""}
<asset><material name="cloth" rgba=".4 .5 .6 1"/></asset>
<worldbody><geom type="plane" size="5 5 .1"/>{composite}</worldbody></mujoco>"""
