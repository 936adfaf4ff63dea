"""`geceval register`: copies the modules into the cache of `evaluate`, so that bare names load from any folder."""

import os
import shutil
import tempfile
from pathlib import Path

from geceval.hub.folders import module_folder, modules_folder
from geceval.registry import list_metrics


def register(names: list[str] | None = None) -> list[Path]:
    """Make `evaluate.load("impara")` work anywhere, by seeding the module cache of `evaluate`.

    Evaluate looks for a bare name on the Hub first and, if there is none, takes the newest module of that name in its
    cache. Running this again, or in two processes at once, does no harm: each folder appears complete or not at all.

    Args:
        names: Metrics to register; all by default.

    Returns:
        The scripts in the cache, one per metric.
    """
    from evaluate.loading import files_to_hash, init_dynamic_modules

    parent = Path(init_dynamic_modules()) / "metrics"
    scripts = []
    for name in names or list_metrics():
        source = module_folder(name) / f"{name}.py"
        home = parent / f"evaluate-metric--{name}"
        home.mkdir(parents=True, exist_ok=True)
        for folder in (parent, home):
            (folder / "__init__.py").touch()
        script = home / files_to_hash([str(source)]) / source.name
        if not script.exists():
            _copy_into(script.parent, source)
        os.utime(script)  # evaluate takes the newest of several versions
        scripts.append(script)
    return scripts


def unregistered() -> tuple[list[str], list[str]]:
    """Metrics that `register` has never been run for, and those for which another version of the module is used."""
    missing, old = [], []
    parent = modules_cache() / "evaluate_modules" / "metrics"
    for name in list_metrics():
        source = modules_folder() / name / f"{name}.py"
        scripts = list((parent / f"evaluate-metric--{name}").glob(f"*/{name}.py"))
        newest = max(scripts, key=lambda script: script.stat().st_mtime, default=None)
        if newest is None:
            missing.append(name)
        elif newest.read_bytes() != source.read_bytes():
            old.append(name)
    return missing, old


def modules_cache() -> Path:
    """The folder below which `evaluate` looks for modules, found without importing `evaluate`, which takes seconds."""
    from huggingface_hub import constants

    return Path(os.environ.get("HF_MODULES_CACHE") or Path(constants.HF_HOME) / "modules")


def _copy_into(folder: Path, source: Path) -> None:
    """Copy a module script into its own new folder, which is put in place by one rename."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as temporary:
        fresh = Path(temporary) / "module"
        fresh.mkdir()
        (fresh / "__init__.py").touch()
        shutil.copyfile(source, fresh / source.name)
        try:
            fresh.rename(folder)
        except OSError:
            if not (folder / source.name).exists():  # otherwise another process was faster
                raise
