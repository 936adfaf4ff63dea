"""The contents of repositories on the Hub: of a module, a checkpoint, a data set and a Space."""

import hashlib
import logging
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from geceval.core.errors import InputError
from geceval.core.files import read_text
from geceval.hub.cards import lint_data_card, lint_metric_card, lint_model_card, lint_space_card, read_card
from geceval.hub.folders import module_folder
from geceval.models.checkpoints import BUNDLED, Checkpoint, is_bundled, is_folder, resolve
from geceval.models.library_messages import quiet
from geceval.models.tokenizers import load_tokenizer

OPEN_LICENSES = frozenset(
    ["apache-2.0", "bsd-3-clause", "cc0-1.0", "cdla-permissive-2.0", "cdla-sharing-1.0"]
    + ["mit", "odbl", "odc-by", "pddl"]
    + [f"cc-by{rest}-{version}" for rest in ("", "-sa", "-nc", "-nc-sa") for version in ("3.0", "4.0")]
)
"""Licences, as the Hub names them, that let anyone pass converted texts on (some for non-commercial use only)."""

_LICENCE_FILES = ("LICENSE", "LICENSE.md", "LICENSE.txt")
_SPACE_TEXTS = ("requirements.txt", "packages.txt", "README.md", *_LICENCE_FILES)
_SPACE_SUFFIXES = (".py", ".json", ".css", ".js", ".html", ".svg", ".png", ".jpg", ".webp", ".ico")
_CHECKPOINT_FILES = re.compile(
    r"README\.md|LICENSE|(config|generation_config|adapter_config|results|model\.safetensors\.index)\.json"
    r"|(tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab)\.json|chat_template\.jinja|vocab\.txt"
    r"|merges\.txt|(spm|spiece|sentencepiece\.bpe|tokenizer)\.model|[^/]*\.safetensors"
)
_OURS = re.compile(r"(geceval|\.)(\[[\w,-]+\])?\s*")  # a requirement: by name, or the folder of the repository

_APP = Path(__file__).with_name("templates") / "app.py.txt"


@dataclass(frozen=True, slots=True)
class Repository:
    """One repository of the Hub, as it should become; `mark` ends the name of a file that tells what it is."""

    name: str
    kind: str
    files: dict[str, bytes | Path]
    mark: str
    module: bool = False
    restricted: str = ""

    def hashes(self, path: str) -> tuple[str, str]:
        """The two names by which the Hub can know the content of a file: its git object and its SHA-256."""
        data = content(self.files[path])
        blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False)
        return blob.hexdigest(), hashlib.sha256(data).hexdigest()


def content(file: bytes | Path) -> bytes:
    """The bytes of a file of a repository."""
    return file if isinstance(file, bytes) else file.read_bytes()


def module_repository(name: str, org: str, package: str | None = None) -> Repository:
    """A metric as a Space that `evaluate.load("ORG/NAME")` reads, with a page for trying it out."""
    folder = module_folder(name)
    check_card(folder / "README.md", lint_metric_card)
    files: dict[str, bytes | Path] = {file: folder / file for file in ("README.md", f"{name}.py", "requirements.txt")}
    files["app.py"] = read_text(_APP).format(name=name).encode()
    if package is not None and "://" not in package:
        raise InputError(f"--package {package}: a metric's page needs a URL, of a wheel or git+https://...")
    _install_from(package, files, f"{org}/{name}")
    return Repository(f"{org}/{name}", "space", files, mark=f"{name}.py", module=True)


def data_repository(folder: str | Path, name: str) -> Repository:
    """A data set in parquet files with a card, as `geceval data build` makes it."""
    folder = Path(folder)
    check_card(folder / "README.md", lint_data_card)
    files = collect(folder, lambda path: path.name in ("README.md", *_LICENCE_FILES) or path.suffix == ".parquet")
    licence = read_card(folder / "README.md").metadata["license"]
    restricted = f"its licence is {licence!r}, which lets nobody pass the texts on; --private keeps a copy for yourself"
    if licence in OPEN_LICENSES:
        restricted = ""
    return Repository(name, "dataset", files, mark=".parquet", restricted=restricted)


def space_repository(folder: str | Path, name: str, package: str | None = None) -> Repository:
    """A Gradio Space."""
    folder = Path(folder)
    check_card(folder / "README.md", lint_space_card)
    files = collect(folder, lambda path: path.name in _SPACE_TEXTS or path.suffix in _SPACE_SUFFIXES)
    app = read_card(folder / "README.md").metadata["app_file"]
    for needed in (app, "requirements.txt"):
        if needed not in files:
            raise InputError(f"{folder}: {needed} is missing")
    _install_from(package, files, name)
    return Repository(name, "space", files, mark=app)


def _install_from(package: str | None, files: dict[str, bytes | Path], name: str) -> None:
    """Let the requirements of a Space install geceval from a URL, or from a wheel, which becomes one of its files."""
    # A Space is built from its requirements alone: it reaches a wheel of its own only by its URL.
    from huggingface_hub import constants

    lines = content(files["requirements.txt"]).decode().splitlines()
    ours = {row: match for row, line in enumerate(lines) if (match := _OURS.fullmatch(line))}
    if package is None:
        if any(match[1] == "." for match in ours.values()):
            raise InputError(
                "requirements.txt installs geceval from this folder, which a Space does not have: build a wheel "
                "(python -m build --wheel) and pass --package dist/geceval-VERSION-py3-none-any.whl"
            )
        return
    if "://" not in package:
        wheel = Path(package)
        if wheel.suffix != ".whl" or not wheel.is_file():
            raise InputError(f"--package {package}: expected a URL, or the file of a wheel")
        files[wheel.name] = wheel
        package = f"{constants.ENDPOINT}/spaces/{name}/resolve/main/{wheel.name}"
    for row, match in ours.items():
        lines[row] = f"geceval{match[2] or ''} @ {package}"
    files["requirements.txt"] = "".join(f"{line}\n" for line in lines).encode()


def checkpoint_repository(folder: str | Path, name: str, merged: Path | None = None) -> Repository:
    """A checkpoint, of one network or of several in sub-folders, with its card; adapters are merged into `merged`."""
    # The folder `run/` of a training run, which holds sentences of its corpora, is not published.
    folder = resolve(str(folder), bundled="impara").folder if is_bundled(str(folder)) else Path(folder)
    parts = sorted(path.parent.relative_to(folder) for path in folder.rglob("config.json"))
    parts = [str(part) for part in parts if part.parts[:1] != ("run",)]
    if not parts or ((folder / "run").is_dir() and not (folder / "results.json").is_file()):
        raise InputError(f"{folder}: no finished checkpoint; train first")
    files = collect(folder, _in_checkpoint, without=["run"])
    check_card(folder / "README.md", lint_model_card)
    checkpoints = {part: resolve(folder, part="" if part == "." else part) for part in parts}
    for checkpoint in checkpoints.values():
        _check_portable(checkpoint, merged is not None)
    card = (folder / "README.md").read_text(encoding="utf-8")
    if merged is not None:
        files = {path: file for path, file in files.items() if path in ("README.md", "results.json", "LICENSE")}
        for part, checkpoint in checkpoints.items():
            _merge(checkpoint, merged / part)
        files |= collect(merged, _in_checkpoint)
    # The card's calls of `geceval.load` get the name that the checkpoint has on the Hub.
    card = re.sub(r'geceval\.load\("(\w+)"(?:, model="[^"]*")?\)', rf'geceval.load("\1", model="{name}")', card)
    files["README.md"] = card.encode()
    return Repository(name, "model", files, mark="config.json")


def _in_checkpoint(path: Path) -> bool:
    return _CHECKPOINT_FILES.fullmatch(path.name) is not None


def _check_portable(checkpoint: Checkpoint, merged: bool) -> None:
    """Raise a `ValueError` if the base is a folder of this machine; warn if the similarity estimator is one."""
    base = BUNDLED if merged or checkpoint.base is None else checkpoint.base.model
    if is_folder(base):
        raise InputError(
            f"{checkpoint.folder}: its base is {base}, a folder of this machine; publish that and name it in "
            f"adapter_config.json"
        )
    estimator = checkpoint.setting("se_model", BUNDLED)
    if is_folder(estimator):
        logging.getLogger("geceval").warning(
            "%s: its similarity estimator (geceval_se_model in config.json) is %s, a folder of this machine; elsewhere "
            "the checkpoint needs se_model=...",
            checkpoint.folder,
            estimator,
        )


def _merge(checkpoint: Checkpoint, folder: Path) -> None:
    """Write a checkpoint as a whole network with its tokenizer, adapters merged, in float32."""
    from geceval.models.loading import load_network

    model = load_network(checkpoint)
    if hasattr(model.config, "geceval_base_sha256"):
        del model.config.geceval_base_sha256  # that of a base which it no longer needs
    with quiet():
        model.save_pretrained(folder)
        load_tokenizer(checkpoint).save_pretrained(folder)


def check_card(card: Path, lint: Callable[[Path], list[str]]) -> None:
    """Raise a `ValueError` that names all mistakes of a card, if there are any."""
    if not card.is_file():
        raise FileNotFoundError(f"{card}: there is no card; nothing is published without one")
    if problems := lint(card):
        raise InputError(f"{card}: {'; '.join(problems)}")


def collect(folder: Path, belongs: Callable[[Path], bool], without: Collection[str] = ()) -> dict[str, bytes | Path]:
    """The files of a folder and its sub-folders, hidden ones and caches of Python left out."""
    files = {}
    inside = folder.resolve()
    for path in sorted(folder.rglob("*")):
        below = path.relative_to(folder)
        hidden = any(part.startswith(".") or part == "__pycache__" for part in below.parts)
        if hidden or below.parts[0] in without or not path.is_file():
            continue
        if not belongs(below):
            raise InputError(f"{path}: does not belong in what is published from {folder}; move it elsewhere")
        if not path.resolve().is_relative_to(inside):
            raise InputError(f"{path}: a link to {path.resolve()}, outside of {folder}; copy the file to send it")
        files[below.as_posix()] = path
    return files
