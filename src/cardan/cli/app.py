"""The commands and their options."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from cardan import __version__
from cardan.compat import set_compat

FAILED = 1
INTERRUPTED = 130  # as in a shell: 128 plus the number of the signal


def _say(kind: str, message: str) -> None:
    print(f"cardan: {kind}{' '.join(message.split())}", file=sys.stderr)


def _show_warning(message: Warning | str, *args: Any, **named: Any) -> None:
    _say("warning: ", str(message))


@contextmanager
def friendly_messages() -> Iterator[None]:
    """Context in which errors of input, files and memory, and Ctrl-C, end the program with a message.

    No traceback is printed. Warnings are printed on one line each.
    """
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            yield
        except KeyboardInterrupt:
            _say("", "interrupted; no file was written")
            raise typer.Exit(INTERRUPTED) from None
        except MemoryError as error:
            _say("error: ", f"not enough memory ({error})")
            raise typer.Exit(FAILED) from None
        except (ValueError, OSError) as error:
            _say("error: ", str(error))
            raise typer.Exit(FAILED) from None


app = typer.Typer(
    name="cardan",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _set_compat(version: str | None) -> None:
    if version is not None:
        try:
            set_compat(version)
        except ValueError as error:
            raise typer.BadParameter(str(error).removeprefix("set_compat: ")) from None


Compat = Annotated[
    str | None,
    typer.Option(
        callback=_set_compat,
        metavar="3.1|4.0",
        help="Version of MuJoCo whose behaviour models have (docs/compat.md).",
        show_default=False,
    ),
]
"""Option of the program and of every command that loads models; its callback sets the version of the process."""


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"cardan {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    compat: Compat = None,
) -> None:
    """Cardan: a physics engine for articulated and soft bodies in contact."""


ModelPath = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model file (MJCF, URDF, or binary: .mjb).", show_default=False)
]
Keyframe = Annotated[str | None, typer.Option(help="Keyframe to start from: its name or its number.")]


@app.command()
def simulate(
    model: ModelPath,
    duration: Annotated[float, typer.Option(help="Simulated time in seconds.", min=0.0)] = 5.0,
    keyframe: Keyframe = None,
    ctrl: Annotated[
        Path | None, typer.Option(help="Controls: a .npy file of shape (nu,) or (steps, nu); the last row is held.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the trajectory (time, qpos, qvel, ctrl, energy, ncon, ...) to this .npz file."),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw poses, energy and contacts into this image file.")] = None,
    video: Annotated[Path | None, typer.Option(help="Record a video: .gif, or .mp4 with the package av.")] = None,
    compat: Compat = None,
) -> None:
    """Simulate a model and print a summary.

    Example: cardan simulate humanoid.xml --duration 3 --keyframe squat --plot energy.png
    """
    with friendly_messages():
        from cardan.cli.simulate import run

        run(model, duration, keyframe, ctrl, out, plot, video)


@app.command()
def render(
    model: ModelPath,
    out: Annotated[
        Path, typer.Option(help="File to write: .png, .jpg, ...; .gif; or .mp4 (package av).", show_default=False)
    ],
    camera: Annotated[
        str | None, typer.Option(help="Camera: its name or its number (default: the free camera).")
    ] = None,
    size: Annotated[str, typer.Option(help="Width and height in pixels.")] = "640x480",
    duration: Annotated[
        float | None,
        typer.Option(help="Simulated time in seconds: of the video (default: 5), or before the picture.", min=0.0),
    ] = None,
    keyframe: Keyframe = None,
    ctrl: Annotated[Path | None, typer.Option(help="Controls: a .npy file, as for `cardan simulate`.")] = None,
    depth: Annotated[bool, typer.Option("--depth", help="Draw depths: near is bright.")] = False,
    segmentation: Annotated[bool, typer.Option("--segmentation", help="Draw each object in its own colour.")] = False,
    compat: Compat = None,
) -> None:
    """Draw a picture of a model, or a video of its simulation. Needs no graphics card and no window.

    Example: cardan render humanoid.xml --out humanoid.gif --duration 3 --keyframe squat
    """
    with friendly_messages():
        from cardan.cli.render import run

        run(model, out, camera, size, duration, keyframe, ctrl, depth, segmentation)


@app.command()
def view(
    model: Annotated[
        Path | None,
        typer.Argument(metavar="[MODEL]", help="Model file (MJCF, URDF, or binary); default: a humanoid."),
    ] = None,
    port: Annotated[
        int, typer.Option(help="Port of the server; if it is taken, the next free port.", min=0, max=65535)
    ] = 8012,
    worlds: Annotated[int, typer.Option(help="Number of worlds side by side.", min=1, max=64)] = 1,
    keyframe: Keyframe = None,
    compat: Compat = None,
) -> None:
    """Show a model in the browser: simulate, look around, pull at bodies, plot. Ends with Ctrl-C.

    Example: cardan view humanoid.xml
    """
    with friendly_messages():
        from cardan.cli.loading import keyframe_id, load_model
        from cardan.view.source import HUMANOID

        number = keyframe_id(load_model(model or HUMANOID), keyframe) if keyframe is not None else None
        try:
            from cardan.view.launching import view as launch

            launch(model, port, worlds, number)
        except ImportError as error:
            raise ValueError(str(error)) from None


@app.command()
def info(
    model: ModelPath,
    plan: Annotated[
        bool, typer.Option("--plan", help="Show the plan of a step instead, with the time of each stage.")
    ] = False,
    compat: Compat = None,
) -> None:
    """Show the contents of a model: sizes, options, the tree of bodies, actuators, sensors, keyframes."""
    with friendly_messages():
        from cardan.cli.info import show, show_plan

        (show_plan if plan else show)(model)


@app.command("compile")
def compile_model(
    model: ModelPath,
    out: Annotated[
        Path,
        typer.Option(
            help="File to write: .xml (canonical MJCF), .mjb (binary, loads fastest) or .txt (every field as text).",
            show_default=False,
        ),
    ],
    compat: Compat = None,
) -> None:
    """Compile a model and save it in another format.

    Example: cardan compile humanoid.xml --out humanoid.mjb
    """
    with friendly_messages():
        from cardan.cli.compile import save

        save(model, out)


@app.command()
def testspeed(
    model: ModelPath,
    steps: Annotated[int, typer.Option(help="Number of steps to time.", min=1)] = 2000,
    noise: Annotated[float, typer.Option(help="Standard deviation of random controls.", min=0.0)] = 0.01,
    keyframe: Keyframe = None,
    compat: Compat = None,
) -> None:
    """Measure the speed of a model: steps per second, contacts, constraints, solver iterations, time of each stage."""
    with friendly_messages():
        from cardan.cli.info import measure

        measure(model, steps, noise, keyframe)


@app.command()
def warmup(
    models: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[MODEL]...", help="Models whose kernels are compiled (default: all kernels)."),
    ] = None,
    compat: Compat = None,
) -> None:
    """Compile kernels ahead of time, so that the first step of a model starts at once.

    Compiled kernels are stored in the folder CARDAN_CACHE_DIR. Kernels not used for CARDAN_CACHE_DAYS days (60) are
    removed, and the oldest ones if the folder exceeds CARDAN_CACHE_MB megabytes (500).
    """
    with friendly_messages():
        from cardan.cli.compile import compile_kernels

        compile_kernels(models or [])
