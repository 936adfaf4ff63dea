"""The batched encoder beside its floor: the bare matrix products of the same tokens without any padding.

    python benchmarks/encoder.py ../shared/data/seeda/outputs/subset/*.txt --sentences 100

Each round embeds all distinct sentences of the files with the bundled encoder at several batch sizes, remembering
nothing, and then multiplies matrices of the network's shapes. Printed are medians over the rounds of wall-clock and of
processor time and their ratios to the floor; on a busy machine the processor time is the one to read.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import torch
from side_by_side.floor import multiply
from timing import interleaved, print_medians

from geceval.core.files import read_lines
from geceval.core.options import RunTime
from geceval.models.checkpoints import resolve
from geceval.models.encoder import Encoder
from geceval.models.loading import load_encoder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+", help="one sentence a line")
    parser.add_argument("--sentences", type=int, help="take only so many of each file")
    parser.add_argument("--batch-size", type=int, nargs="+", default=[16, 64, 256])
    parser.add_argument("--compile", action="store_true", help="torch.compile at each batch size, too")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()

    texts = list(dict.fromkeys(line for path in arguments.files for line in read_lines(path)[: arguments.sentences]))
    kept = Encoder.load(resolve("bundled"), RunTime(device="cpu"))
    tokens = sum(len(ids) for ids in kept.tokenizer(texts, truncation=True, max_length=128)["input_ids"])

    def embed(model: torch.nn.Module, batch_size: int) -> Callable[[], None]:
        return lambda: Encoder(model, kept.tokenizer).embed(texts, RunTime(batch_size=batch_size, cache=None))

    config = kept.model.config
    shape = config.hidden_size, config.intermediate_size, config.num_hidden_layers
    runs = {"floor": lambda: multiply(*shape, tokens)}
    runs |= {f"batch {n}": embed(kept.model, n) for n in arguments.batch_size}
    if arguments.compile:
        compiled = load_encoder(resolve("bundled"))
        compiled.compile(dynamic=True)
        runs |= {f"batch {n}, compiled": embed(compiled, n) for n in arguments.batch_size}
    medians = interleaved(runs, arguments.rounds, warm_up=1)
    size = f"{len(texts)} distinct sentences, {tokens} tokens"
    print(f"{size}, {torch.get_num_threads()} threads, {arguments.rounds} rounds")
    print_medians(medians)


if __name__ == "__main__":
    main()
