"""Where the `evaluate` modules lie."""

from __future__ import annotations

from pathlib import Path

from geceval.registry import check_name


def modules_folder() -> Path:
    """The folder that holds one folder per metric: beside this package when installed, `metrics/` in a checkout."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "modules"
    return installed if installed.is_dir() else package.parents[1] / "metrics"


def module_folder(name: str) -> Path:
    """Folder of one metric, which `evaluate.load` takes."""
    check_name(name)
    return modules_folder() / name
