"""Weights in GGUF, de-quantised once: a folder as transformers writes it, in 16 bits, cached for the next process."""

import contextlib
import importlib.util
import io
import json
import os
import shutil
from pathlib import Path

from geceval.core.errors import naming_the_extra
from geceval.core.files import expanded, file_sha256
from geceval.core.signature import package_version
from geceval.models.library_messages import quiet, reason
from geceval.models.origins.hub import CheckpointError

CACHE_VARIABLE = "GECEVAL_MODEL_CACHE"
WRITTEN = "written.json"  # of a copy: the SHA-256 of all other files, written last


def cache_folder() -> Path:
    """The folder that `GECEVAL_MODEL_CACHE` names, else `geceval/models` in `XDG_CACHE_HOME` or `~/.cache`."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return expanded(chosen)
    return expanded(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "geceval" / "models"


def cached_copy(name: str, sha256: str) -> Path | None:
    """The folder of de-quantised weights in the cache, if it is there and transformers is installed."""
    if importlib.util.find_spec("transformers") is None:
        return None
    folder = cache_folder() / _folder_name(name, sha256)
    return folder if _whole(folder) else None


def dequantised(file: Path, name: str, sha256: str) -> Path:
    """The folder of de-quantised weights with configuration and tokenizer, made first if necessary."""
    cache = cache_folder()
    try:
        return _cached(file, cache, _folder_name(name, sha256))
    except OSError as error:
        raise CheckpointError(
            f"{name}: its de-quantised copy cannot be written to {cache} ({reason(error)}); set {CACHE_VARIABLE} to "
            "a folder with room for it"
        ) from error


def _folder_name(name: str, sha256: str) -> str:
    # transformers 4 cannot read all of the configuration that 5 writes
    return f"{name}-{sha256[:12]}-float16-transformers{package_version('transformers').partition('.')[0]}"


def _cached(file: Path, cache: Path, name: str) -> Path:
    """The folder in the cache; a process that is killed while it writes leaves only what the next one replaces."""
    from filelock import FileLock

    done, partial = cache / name, cache / f"{name}.partial"
    if not _whole(done):
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(cache / f"{name}.lock"):
            if not _whole(done):  # by another process, meanwhile
                for folder in (done, partial):
                    shutil.rmtree(folder, ignore_errors=True)
                partial.mkdir()
                _write(file, partial)
                partial.replace(done)
    return done


def _whole(folder: Path) -> bool:
    """Whether all files there are as they were written: a disk that failed may have spoilt them."""
    try:
        written = json.loads((folder / WRITTEN).read_text(encoding="utf-8"))
        return all(file_sha256(folder / name) == digest for name, digest in written.items())
    except (OSError, ValueError, AttributeError):
        return False


def _write(file: Path, folder: Path) -> None:
    with naming_the_extra(file.name):
        import gguf  # noqa: F401 - what transformers reads it with
        import torch
        import transformers
        from safetensors import SafetensorError
        from safetensors.torch import save_file

    source = {"pretrained_model_name_or_path": file.parent, "gguf_file": file.name, "local_files_only": True}
    try:
        with quiet(), contextlib.redirect_stderr(io.StringIO()):  # a bar that transformers shows in any case
            model, report = transformers.AutoModelForCausalLM.from_pretrained(
                **source, dtype=torch.float16, output_loading_info=True
            )
            tokenizer = transformers.AutoTokenizer.from_pretrained(**source)
    except Exception as error:  # transformers and gguf each raise their own
        raise CheckpointError(f"{file}: cannot be read ({reason(error)})") from error
    if report["missing_keys"]:  # transformers has drawn them at random
        raise CheckpointError(f"{file}: cannot be read (it lacks {min(report['missing_keys'])})")
    config = model.config
    del config.quantization_config, config._name_or_path
    config.architectures = [type(model).__name__]
    tied = {"lm_head.weight"} if config.tie_word_embeddings else set()
    state = {name: value.contiguous() for name, value in model.state_dict().items() if name not in tied}
    try:
        save_file(state, folder / "model.safetensors", {"format": "pt"})
    except SafetensorError as error:  # what it raises where a disk is full
        raise OSError(reason(error)) from error
    (folder / "model.safetensors").chmod(0o644)
    config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    files = {path.name: file_sha256(path) for path in sorted(folder.iterdir())}
    (folder / WRITTEN).write_text(json.dumps(files, indent=2) + "\n", encoding="utf-8")
