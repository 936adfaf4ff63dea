"""A Hub on this machine, and processes that know no other."""

import contextlib
import os

import pytest


@pytest.fixture(scope="session")
def hub_server():
    """The module with the stand-in: its classes and tokens."""
    import hub_server

    return hub_server


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
        settings = dict.fromkeys(("HF_HUB_DISABLE_XET", "HF_HUB_DISABLE_TELEMETRY", "OMP_NUM_THREADS"), "1")
        settings |= {"HF_ENDPOINT": server.url, "HF_HOME": str(home), "HF_UPDATE_DOWNLOAD_COUNTS": "0"}
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
            template = server.url + "/{repo_id}/resolve/{revision}/{filename}"
            patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
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


@pytest.fixture(scope="session")
def make_model(make_checkpoint):
    """A function that writes a tiny checkpoint with a card."""

    def make(seed):
        folder = make_checkpoint(seed)
        front = "license: mit\nlibrary_name: transformers\npipeline_tag: text-classification\ntags: [gec]"
        text = f'# Tiny\n\nVersion {seed}: `geceval.load("impara", model="tiny")`.'
        (folder / "README.md").write_text(f"---\n{front}\n---\n\n{text}\n", encoding="utf-8")
        return folder

    return make


@pytest.fixture(scope="session")
def write_data():
    """A function that writes a data set as `geceval data build` makes that of a name, with other sentences."""
    import pyarrow as pa

    from geceval.corpora.build import data_card
    from geceval.corpora.folder import Config, write_folder

    def write(folder, name, sentences=("A note .",)):
        schema = pa.schema({"source": pa.string(), "references": pa.list_(pa.string())})
        rows = [{"source": sentence, "references": [sentence]} for sentence in sentences]
        configs = [Config("corrected", schema, {"test": rows}), Config("raw", schema, {"dev": rows})]
        write_folder(folder, configs, data_card(name, configs))
        return folder

    return write
