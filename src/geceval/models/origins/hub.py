"""Repositories of the Hub: their files in the local cache, fetched first if necessary."""

import os
from pathlib import Path

from geceval.core.errors import InputError
from geceval.models.library_messages import reason

_WANTED = ("*.json", "*.txt", "*.model", "*.jinja")  # and weights
_NOT_WANTED = ("onnx/*", "openvino/*", "checkpoint-*")
QUALITY_HEAD = "quality_head.safetensors"
WEIGHTS = (
    "model.safetensors",
    "adapter_model.safetensors",
    QUALITY_HEAD,
    "model.safetensors.index.json",
    "pytorch_model.bin",
)


class CheckpointError(InputError):
    """A checkpoint that is missing, incomplete, damaged or of the wrong kind; the message says what to do."""


def offline() -> bool:
    """Whether the user has forbidden calls to the Hub (`HF_HUB_OFFLINE` or `TRANSFORMERS_OFFLINE`)."""
    names = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    return any(os.environ.get(name, "").upper() in ("1", "TRUE", "YES", "ON") for name in names)


def http_error() -> type[Exception]:
    """The base of all errors of whichever HTTP library huggingface_hub uses."""
    from huggingface_hub.errors import HfHubHTTPError

    return [cls for cls in HfHubHTTPError.__mro__ if cls.__module__.startswith(("httpx", "requests"))][-1]


def cached_snapshot(repository: str, revision: str | None = None) -> Path | None:
    """The folder of a Hub repository if it is whole in the local cache, without a call to the Hub."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    patterns = {"allow_patterns": [*_WANTED, "*.safetensors"], "ignore_patterns": list(_NOT_WANTED)}
    try:
        folder = Path(snapshot_download(repository, revision=revision, local_files_only=True, **patterns))
    except LocalEntryNotFoundError:
        return None
    return folder if any((folder / weights).is_file() for weights in WEIGHTS) else None


def snapshot(repository: str, revision: str | None = None, part: str = "") -> Path:
    """The folder of a Hub repository in the local cache, fetched first if necessary; its name is the commit."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError, RevisionNotFoundError

    def fetch(weights: str) -> Path:
        options = {"revision": revision, "local_files_only": offline(), "allow_patterns": [*_WANTED, weights]}
        return Path(snapshot_download(repository, ignore_patterns=list(_NOT_WANTED), **options))

    try:
        folder = fetch("*.safetensors")
        if not any((folder / part / weights).is_file() for weights in WEIGHTS):
            folder = fetch("*.bin")
    except HFValidationError as error:
        raise CheckpointError(f"{repository}: neither a folder that exists nor a valid Hub id") from error
    except RevisionNotFoundError as error:
        raise CheckpointError(f"{repository}: the Hub has no revision {revision!r} of it") from error
    except RepositoryNotFoundError as error:
        raise CheckpointError(
            f"{repository}: neither a folder here nor a repository of the Hub that you may read (private ones need: "
            f"hf auth login)"
        ) from error
    except (OSError, http_error()) as error:  # OSError is what huggingface_hub raises without a network
        if getattr(getattr(error, "response", None), "status_code", None) == 401:
            raise CheckpointError(
                f"{repository}: the Hub does not accept your token, not even for public repositories; log in again "
                f"(hf auth login), or out (hf auth logout, unset HF_TOKEN)"
            ) from error
        why = "the Hub is switched off (HF_HUB_OFFLINE)" if offline() else "the Hub cannot be reached"
        at = f" --revision {revision}" if revision else ""
        raise CheckpointError(
            f"{repository}: no folder with files here and not in the Hub's local cache, and {why}. "
            f"Where there is a network, run: hf download {repository}{at}  (then copy the cache, or pass a folder)"
        ) from error
    except ValueError as error:  # e.g. names of files that lead out of the folder
        raise CheckpointError(f"{repository}: cannot be fetched ({reason(error)})") from error
    return folder
