"""What belongs in the repository of a checkpoint; adapters as they are, or merged into a whole network."""

from __future__ import annotations

import logging
import re
from pathlib import Path

from geceval.core.errors import InputError
from geceval.core.files import expanded
from geceval.hub.cards import lint_model_card
from geceval.hub.publish.folders import check_card, collect
from geceval.hub.publish.repository import Repository
from geceval.models.checkpoints import BUNDLED, Checkpoint, is_bundled, resolve
from geceval.models.sources.library_messages import quiet
from geceval.models.tokenizers import load_tokenizer

_NAMES = re.compile(
    r"README\.md|LICENSE|(config|generation_config|adapter_config|results|model\.safetensors\.index)\.json"
    r"|(tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab)\.json|chat_template\.jinja|vocab\.txt"
    r"|merges\.txt|(spm|spiece|sentencepiece\.bpe|tokenizer)\.model|[^/]*\.safetensors"
)

_ADAPTER = """
## Loading

An adapter over {base}. `model="{name}"`, optionally with `@revision`, loads it wherever geceval is installed.
"""
_WHOLE = """
## Loading

`model="{name}"`, optionally with `@revision`, loads it wherever geceval is installed. In transformers,
`{loader}.from_pretrained("{name}"{part})` reads the network by itself.
"""


def checkpoint_repository(folder: str | Path, name: str, merged: Path | None = None) -> Repository:
    """A checkpoint, of one network or of several in sub-folders, with its card."""
    # The folder `run/` of a training run, which holds sentences of its corpora, is not published. The card's calls of
    # `geceval.load` get the name that the checkpoint has on the Hub.
    if is_bundled(str(folder)):
        folder = resolve(str(folder), bundled="impara").folder
    folder = Path(folder)
    parts = sorted(path.parent.relative_to(folder) for path in folder.rglob("config.json"))
    parts = [str(part) for part in parts if part.parts[:1] != ("run",)]
    if not parts or ((folder / "run").is_dir() and not (folder / "results.json").is_file()):
        raise InputError(f"{folder}: no finished checkpoint; train first")
    files = collect(folder, _belongs, without=["run"])
    check_card(folder / "README.md", lint_model_card)
    checkpoints = {part: resolve(folder, part="" if part == "." else part) for part in parts}
    for checkpoint in checkpoints.values():
        _check_portable(checkpoint, merged is not None)
    card = (folder / "README.md").read_text(encoding="utf-8")
    if merged is not None:
        files = {path: file for path, file in files.items() if path in ("README.md", "results.json", "LICENSE")}
        for part, checkpoint in checkpoints.items():
            _merge(checkpoint, merged / part)
        files |= collect(merged, _belongs)
    bases = {} if merged else {c.base.model: c.base for c in checkpoints.values() if c.base}
    files["README.md"] = _with_name(card, name, next(iter(checkpoints.values())), parts[0], sorted(bases)).encode()
    return Repository(name, "model", files, mark="config.json")


def _belongs(path: Path) -> bool:
    return _NAMES.fullmatch(path.name) is not None


def _check_portable(checkpoint: Checkpoint, merged: bool) -> None:
    """Raise a `ValueError` if the base is a folder of this machine; warn if the similarity estimator is one."""
    base = BUNDLED if merged or checkpoint.base is None else checkpoint.base.model
    if _is_local(base):
        raise InputError(
            f"{checkpoint.folder}: its base is {base}, a folder of this machine; publish that and name it in "
            f"adapter_config.json"
        )
    estimator = checkpoint.setting("se_model", BUNDLED)
    if _is_local(estimator):
        logging.getLogger("geceval").warning(
            "%s: its similarity estimator (geceval_se_model in config.json) is %s, a folder of this machine; elsewhere "
            "the checkpoint needs se_model=...",
            checkpoint.folder,
            estimator,
        )


def _is_local(model: str) -> bool:
    return not is_bundled(model) and expanded(model).is_dir()


def _with_name(card: str, name: str, first: Checkpoint, part: str, bases: list[str]) -> str:
    """The card with the name that the checkpoint has on the Hub, and how it is loaded from there."""
    card = re.sub(r'geceval\.load\("(\w+)"(?:, model="[^"]*")?\)', rf'geceval.load("\1", model="{name}")', card)
    if bases:
        what = [_base_in_words(base) for base in bases]
        return card.rstrip() + "\n" + _ADAPTER.format(name=name, base=" and ".join(what))
    kind = (first.config.get("architectures") or ["AutoModel"])[0]
    tasks = ("ForSequenceClassification", "ForTokenClassification")
    loader = next((f"AutoModel{task}" for task in tasks if kind.endswith(task)), "AutoModel")
    below = "" if part == "." else f', subfolder="{part}"'
    return card.rstrip() + "\n" + _WHOLE.format(name=name, loader=loader, part=below)


def _base_in_words(base: str) -> str:
    if not is_bundled(base):
        return f"`{base}`"
    return "the encoder bundled with geceval" if base == BUNDLED else f"the checkpoint bundled with geceval as `{base}`"


def _merge(checkpoint: Checkpoint, folder: Path) -> None:
    """Write a checkpoint as a whole network with its tokenizer, adapters merged, in float32."""
    from geceval.models.heads import load_network

    model = load_network(checkpoint)
    if hasattr(model.config, "geceval_base_sha256"):
        del model.config.geceval_base_sha256  # that of a base which it no longer needs
    with quiet():
        model.save_pretrained(folder)
        load_tokenizer(checkpoint).save_pretrained(folder)
