"""The demo Space: its modules lie beside its app.py and are imported as they are there."""

import importlib
import socket
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "spaces" / "demo"
sys.path.append(str(FOLDER))


@pytest.fixture(scope="session")
def space() -> Path:
    """The folder of the Space."""
    return FOLDER


@pytest.fixture(scope="session")
def app():
    """The module `app.py`."""
    return importlib.import_module("app")


@pytest.fixture(scope="session")
def address(app):
    """Where the page, running as it would in the Space, can be reached."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    app.demo.launch(**app.LAUNCH, server_name="127.0.0.1", server_port=port, prevent_thread_lock=True, quiet=True)
    yield f"http://127.0.0.1:{port}"
    app.demo.close()
