"""Build what a release consists of, install it into empty environments and use it there; `make smoke` runs this.

Text metrics run on every given Python, in an environment that holds the wheel, or on the second one the source
distribution, and what pip adds to it. The metrics with extras run on the Python of this process, in an environment that
holds the wheel and sees the packages of this one.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
USE = Path(__file__).with_name("use.py")


def main(versions: list[str]) -> None:
    """Run on each version, such as `3.12`."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        wheel, source = build(folder)
        jobs = [(version, source if number == 1 else wheel) for number, version in enumerate(versions)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda job: text_metrics(*job, folder), jobs))
        python = environment(sys.executable, folder / "extras")
        (site,) = (folder / "extras" / "lib").glob("python*/site-packages")
        (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
        pip(python, "--no-deps", wheel)
        run(python, "-I", USE, "extras", cwd=folder)
        print("impara, errant and the large model, with the dependencies of this environment")


def text_metrics(version: str, distribution: Path, folder: Path) -> None:
    """Install without extras on one Python, and use it."""
    python = environment(interpreter(version), folder / f"{version}{distribution.suffix}")
    pip(python, "-c", ROOT / "constraints.txt", distribution)
    run(python, "-I", USE, "text", cwd=folder)
    print(f"text metrics on Python {version}, from {distribution.name}", flush=True)


def build(folder: Path) -> tuple[Path, Path]:
    """The wheel and the source distribution that it is made from, out of a copy, as setuptools leaves files behind."""
    ignored = shutil.ignore_patterns(".*", "build", "__pycache__", "*.egg-info")
    for name in ("src", "metrics"):
        shutil.copytree(ROOT / name, folder / "tree" / name, ignore=ignored)
    for path in ROOT.glob("*.*"):
        if path.is_file() and not path.name.startswith("."):
            shutil.copy(path, folder / "tree")
    shutil.copy(ROOT / "LICENSE", folder / "tree")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", folder / "tree")
    wheel, source = (next((folder / "dist").glob(f"geceval-*{end}")) for end in (".whl", ".tar.gz"))
    assert wheel.stat().st_size < 60_000_000, f"{wheel.name} has {wheel.stat().st_size:,} bytes"
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, source)
    return wheel, source


def interpreter(version: str) -> str:
    """A Python of that version: on the path, or among those of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    installed = sorted(str(path) for path in pyenv.glob(f"{version}.*/bin/python"))
    for candidate in (f"python{version}", *installed):
        if shutil.which(candidate) and not subprocess.run([candidate, "-c", ""], capture_output=True).returncode:
            return candidate
    raise SystemExit(f'there is no Python {version} here; choose others: make smoke PYTHONS="3.11"')


def environment(python: str, folder: Path) -> Path:
    """An empty environment; returns its Python."""
    run(python, "-m", "venv", "--without-pip", folder)
    return folder / "bin" / "python"


def pip(python: Path, *arguments: str | Path) -> None:
    """Install into an environment."""
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-compile", *arguments)


def run(*command: str | Path, cwd: Path | None = None) -> None:
    """Run a command that must succeed, outside of the tree and without its variables."""
    ours = ("PYTHON", "HF_", "GECEVAL_")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    subprocess.run([str(part) for part in command], cwd=cwd, env=clean, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
