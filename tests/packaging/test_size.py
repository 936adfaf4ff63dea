"""What the wheel weighs, and that it holds one encoder: all else of its kind are adapters over it."""

import json
import subprocess
import sys
import zlib

from geceval.models.checkpoints import ASSETS, resolve

MEGABYTE = 1_000_000
LARGEST = {"smollm2_impara": 10 * MEGABYTE}  # an adapter over a larger network


def test_the_wheel_takes_at_most_60_megabytes():
    files = [path for path in ASSETS.parent.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert sum(len(zlib.compress(path.read_bytes())) for path in files) < 60 * MEGABYTE


def test_there_is_one_encoder():
    encoders = [path.parent.name for path in ASSETS.rglob("model.safetensors") if not _is_causal(path.parent)]
    assert encoders == ["encoder"]


def test_adapters_are_small_and_lead_to_the_encoder():
    adapters = [path.parent for path in ASSETS.rglob("adapter_config.json")]
    assert len(adapters) >= 8
    for folder in adapters:
        name = folder.relative_to(ASSETS).parts[0]
        assert sum(path.stat().st_size for path in folder.glob("*.safetensors")) <= LARGEST.get(name, 4 * MEGABYTE)
        assert not list(folder.glob("tokenizer*"))
        if not _is_causal(folder):
            checkpoint = resolve(folder)
            while checkpoint.base is not None:
                checkpoint = checkpoint.base
            assert checkpoint.folder == ASSETS / "encoder"


def test_text_metrics_open_no_weights():
    code = """if True:
        import sys
        opened = []
        sys.addaudithook(lambda event, values: opened.append(str(values[0])) if event == "open" else None)
        import geceval
        columns = {"sources": ["He go ."], "predictions": ["He goes ."], "references": [["He goes ."]]}
        for metric in ("gleu", "green", "m2", "i_measure"):
            geceval.load(metric).compute(**columns)
        assert any(path.endswith("gleu.py") for path in opened)
        assert not [path for path in opened if path.endswith((".safetensors", ".gguf", ".bin"))], opened
    """
    subprocess.run([sys.executable, "-c", code], check=True)


def _is_causal(folder) -> bool:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return config["architectures"][0].endswith("ForCausalLM")
