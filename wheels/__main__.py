"""``python -m wheels``: the sdist, the pure wheel, and one for each platform with all kernels compiled for it."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from cardan.jit.cache.packaged import PACKAGE, sources, write_archive
from cardan.jit.target.processor import PLATFORMS, host_platform
from wheels.kernels import compile_all, differentiable, entries
from wheels.pack import ROOT, build_pure, build_sdist, for_platform


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m wheels", description=__doc__)
    parser.add_argument(
        "--platform",
        action="append",
        choices=[*PLATFORMS, "here"],
        help="only this one; may be repeated (here: this machine's)",
    )
    parser.add_argument("--level", action="append", help="only this level of processors; may be repeated")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder of the packages")
    parser.add_argument("--kernels", nargs="+", metavar="NAME", help="only these kernels")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes that compile")
    return parser.parse_args()


def main() -> None:
    """The command."""
    arguments = _arguments()
    os.environ.setdefault("CARDAN_CACHE_DIR", str(ROOT / "build" / "kernels"))
    platforms = [PLATFORMS[host_platform() if name == "here" else name] for name in arguments.platform or PLATFORMS]
    targets = [(p, level) for p in platforms for level in p.levels if level in (arguments.level or p.levels)]
    arguments.out.mkdir(parents=True, exist_ok=True)
    names = arguments.kernels or list({**entries(), **differentiable()})
    begin = time.perf_counter()
    objects, forms = compile_all(names, targets, arguments.jobs, lambda line: print(line, flush=True))
    count = f"{len(names)} kernels for {len(targets)} targets, {len(forms.texts)} scalar forms"
    print(f"{count} in {time.perf_counter() - begin:.0f} s")
    sdist, pure = build_sdist(arguments.out), build_pure(arguments.out)
    made_from = sources(PACKAGE)
    for package in (sdist, pure):
        print(f"{package.name}: {package.stat().st_size / 1e6:.1f} MB")
    for platform in platforms:
        levels = {level: objects[platform, level] for p, level in targets if p is platform}
        with tempfile.TemporaryDirectory() as folder:
            archive = Path(folder) / "kernels.bin"
            write_archive(archive, platform.name, levels, made_from, forms)
            wheel = for_platform(pure, platform.wheel, archive.read_bytes(), arguments.out)
            print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, kernels {archive.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
