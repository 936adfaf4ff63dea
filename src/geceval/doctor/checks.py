"""The checks of `geceval doctor`: packages, bundled files, pipeline, device, Hub, scores of each metric."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from geceval import registry
from geceval.core.errors import install_command, naming_the_extra
from geceval.doctor import mini_benchmark
from geceval.hub.register import unregistered
from geceval.version import __version__

if TYPE_CHECKING:
    from packaging.requirements import Requirement

OK, NOTE, PROBLEM = "ok", "note", "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check."""

    check: str
    state: Literal["ok", "note", "problem"]
    what: str
    seconds: float = 0.0


def examine(metrics: Iterable[str] | None = None, device: str = "auto") -> Iterator[Finding]:
    """Run all checks, one finding after another."""
    names = registry.list_metrics() if metrics is None else list(metrics)
    for name in names:
        registry.check_name(name)
    stored: dict[str, Any] = {"metrics": {}, "assets": {}, "versions": {}}
    try:
        stored = mini_benchmark.read_stored()
    except (OSError, ValueError) as error:
        yield Finding("stored numbers", PROBLEM, f"{error}; install geceval again")
    checks: dict[str, Callable[[], Iterable[Finding]]] = {
        "packages": packages,
        "bundled files": lambda: assets(stored["assets"]),
        "ERRANT": pipeline,
        "device": lambda: devices(device),
        "Hub": hub,
        "evaluate": registered,
        **{name: (lambda name=name: numbers(name, stored, device)) for name in names},
    }
    for check, look in checks.items():
        yield from findings_of(check, look)


def findings_of(check: str, look: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """The findings of one check; an exception that it raises is a finding too."""
    start = time.perf_counter()
    try:
        with naming_the_extra(check):
            for finding in look():
                yield Finding(finding.check, finding.state, finding.what, time.perf_counter() - start)
                start = time.perf_counter()
    except ImportError as error:
        yield Finding(check, NOTE, f"not checked: {error}")
    except Exception as error:  # a broken installation may fail in any way, and the other checks still tell something
        yield Finding(check, PROBLEM, f"{type(error).__name__}: {' '.join(str(error).split())}")


def packages() -> Iterator[Finding]:
    """Python and every package that setup.py names, extra by extra."""
    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet

    yield Finding("geceval", OK, f"{__version__} in {Path(__file__).parents[1]}")
    try:
        distribution = metadata.distribution("geceval")
    except metadata.PackageNotFoundError:
        yield Finding("packages", NOTE, "geceval is not installed, only on the path; its requirements are not known")
        return
    required = distribution.metadata["Requires-Python"] or ""
    python = platform.python_version()
    right = SpecifierSet(required).contains(python, prereleases=True)
    yield Finding("python", OK if right else PROBLEM, python if right else f"{python}, but geceval needs {required}")
    requirements = [Requirement(text) for text in distribution.requires or []]
    yield installed("packages", [each for each in requirements if each.marker is None], "pip install geceval", PROBLEM)
    for extra in distribution.metadata.get_all("Provides-Extra") or []:
        if extra not in ("dev", "docs"):
            group = [each for each in requirements if each.marker and each.marker.evaluate({"extra": extra})]
            yield installed(f"extra {extra}", group, install_command(extra), NOTE)


def installed(check: str, requirements: list[Requirement], advice: str, absent: str) -> Finding:
    """Whether requirements are met; `absent` is the state to report where one is not installed at all."""
    there, missing, wrong = [], [], []
    for requirement in requirements:
        try:
            version = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            missing.append(requirement.name)
            continue
        there.append(f"{requirement.name} {version}")
        if not requirement.specifier.contains(version, prereleases=True):
            wrong.append(f"{requirement.name} is {version}, but must be {requirement.specifier}")
    if wrong:
        return Finding(check, PROBLEM, f"{'; '.join(wrong)}. Run: {advice}")
    if missing:
        return Finding(check, absent, f"not installed: {', '.join(missing)}. Run: {advice}")
    return Finding(check, OK, ", ".join(there))


def assets(stored: dict[str, str]) -> Iterator[Finding]:
    """The files that come with geceval, by their hashes."""
    present = mini_benchmark.asset_hashes()
    damaged = [path for path, digest in stored.items() if present.get(path) != digest]
    for path in damaged:
        state = "is not the published file" if path in present else "is missing"
        yield Finding("bundled files", PROBLEM, f"assets/{path} {state}; install geceval again")
    if not damaged:
        yield Finding("bundled files", OK, f"{len(stored)} as published")
    strange = [path for path in present if path not in stored]
    if strange:
        yield Finding("bundled files", NOTE, f"not part of geceval: {', '.join(strange[:5])}")


def pipeline() -> Iterator[Finding]:
    """Whether the bundled spaCy pipeline works."""
    from geceval.edits.edit import Edit
    from geceval.edits.errant.annotator import get_annotator
    from geceval.edits.errant.pipeline import official_package

    annotator = get_annotator()
    (edits,) = annotator.edits([("He go home .", "He goes home .")])
    if edits == [Edit(1, 2, "goes", "R:VERB:SVA")]:
        package = official_package()
        hint = f'; {package} is installed, too: nlp="official"' if package else ""
        yield Finding("ERRANT", OK, f"pipeline {annotator.pipeline}{hint}")
    else:
        yield Finding("ERRANT", PROBLEM, f"pipeline {annotator.pipeline} makes of go -> goes {edits}")


def devices(device: str) -> Iterator[Finding]:
    """The devices on which networks run, and the number formats that work there."""
    import torch

    from geceval.models.devices import pick_device

    chosen = pick_device(device)
    name = torch.cuda.get_device_name(chosen) if chosen.type == "cuda" else platform.machine()
    working = []
    for dtype in ("float32", "bfloat16", "float16"):
        try:
            ones = torch.ones(2, 2, dtype=getattr(torch, dtype), device=chosen)
            torch.nn.functional.linear(ones, ones).sum().item()
        except (RuntimeError, NotImplementedError):
            continue
        working.append(dtype)
    threads = f", {torch.get_num_threads()} threads" if chosen.type == "cpu" else ""
    yield Finding("device", OK, f"{chosen} ({name}{threads}); {', '.join(working)}")


def hub() -> Iterator[Finding]:
    """Whether the Hub may be asked for models, and where they are cached."""
    from huggingface_hub import constants

    from geceval.models.origins.hub import offline

    mode = "switched off (HF_HUB_OFFLINE)" if offline() else "asked for models that are not bundled"
    cache = Path(constants.HF_HUB_CACHE)
    parent = next(path for path in (cache, *cache.parents) if path.exists())
    if not os.access(parent, os.W_OK):
        yield Finding("Hub", NOTE, f"{mode}; its cache {cache} cannot be written, so nothing can be fetched")
    else:
        yield Finding("Hub", OK, f"{mode}; cache {cache}")


def registered() -> Iterator[Finding]:
    """Whether `evaluate.load("impara")` works with the bare name, and uses the modules of this version."""
    missing, old = unregistered()
    if old:
        yield Finding("evaluate", PROBLEM, f"older modules are registered: {', '.join(old)}. Run: geceval register")
    elif missing:
        yield Finding("evaluate", NOTE, f"not registered by bare name: {', '.join(missing)}. Run: geceval register")
    else:
        yield Finding("evaluate", OK, "all metrics are registered by bare name")


def numbers(name: str, stored: dict[str, Any], device: str) -> Iterator[Finding]:
    """Whether a metric gives the stored numbers for the example corpus."""
    if name not in stored["metrics"]:
        yield Finding(name, NOTE, "not checked: it has no stored numbers, as it needs a model that is not bundled")
        return
    lines = mini_benchmark.differences(stored["metrics"][name], scored := mini_benchmark.run(name, device))
    if not lines:
        systems = scored["systems"]
        sentences = sum(len(system["scores"]) for system in systems.values())
        yield Finding(name, OK, f"{len(systems)} corpus scores and {sentences} sentence scores as stored")
        return
    here = mini_benchmark.versions()
    changed = [
        f"{package} {here.get(package)} (stored with {then})"
        for package, then in stored["versions"].items()
        if here.get(package) != then
    ]
    yield Finding(name, PROBLEM, "; ".join([*lines, *changed]))
