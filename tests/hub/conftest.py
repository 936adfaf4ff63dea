"""A Hub on this machine, and processes that know no other."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def hub_server():
    """The module with the stand-in: its classes and tokens."""
    path = Path(__file__).resolve().parents[1] / "hub_server.py"
    spec = importlib.util.spec_from_file_location("hub_server", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["hub_server"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def hub(hub_server):
    """An empty Hub."""
    server = hub_server.HubServer()
    yield server
    server.close()


@pytest.fixture(scope="session")
def environment(hub_server):
    """A function that gives the environment of a process for which a server is the Hub and `home` the cache."""

    def make(server, home, token=hub_server.TOKEN):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_"))}
        settings = {
            "HF_ENDPOINT": server.url,
            "HF_HOME": str(home),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",
            "OMP_NUM_THREADS": "1",
        }
        return {**kept, **settings, **({"HF_TOKEN": token} if token else {})}

    return make


@pytest.fixture(scope="session")
def at_home(hub_server, tmp_path_factory):
    """A context in which a server is the Hub of this process, too, with an empty cache."""

    @contextlib.contextmanager
    def enter(server, token=hub_server.TOKEN):
        from huggingface_hub import constants

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(constants, "ENDPOINT", server.url)
            patch.setattr(
                constants, "HUGGINGFACE_CO_URL_TEMPLATE", server.url + "/{repo_id}/resolve/{revision}/{filename}"
            )
            patch.setattr(constants, "HF_HUB_OFFLINE", False)
            patch.setattr(constants, "HF_HUB_DISABLE_XET", True)
            patch.setattr(constants, "HF_HUB_CACHE", str(tmp_path_factory.mktemp("cache")))
            patch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path_factory.mktemp("home") / "token"))
            patch.delenv("HF_HUB_OFFLINE", raising=False)
            patch.delenv("TRANSFORMERS_OFFLINE", raising=False)
            if token:
                patch.setenv("HF_TOKEN", token)
            else:
                patch.delenv("HF_TOKEN", raising=False)
            yield

    return enter
