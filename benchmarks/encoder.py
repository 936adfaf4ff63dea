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
from timing import interleaved, print_medians

from geceval.core.inputs import read_lines
from geceval.core.options import RunTime
from geceval.models.checkpoints import resolve
from geceval.models.encoder import Encoder, get_encoder


def products(encoder: Encoder, tokens: int, rows: int = 2048) -> Callable[[], None]:
    """The matrix products of every layer (query, key, value, output; feed-forward) over that many tokens."""
    config = encoder.model.config
    wide, narrow = config.intermediate_size, config.hidden_size
    square, up, down = torch.randn(narrow, narrow), torch.randn(narrow, wide), torch.randn(wide, narrow)

    @torch.inference_mode()
    def run() -> None:
        for start in range(0, tokens, rows):
            states = torch.randn(min(rows, tokens - start), narrow)
            for _ in range(config.num_hidden_layers):
                for _ in range(4):
                    torch.mm(states, square)
                torch.mm(torch.mm(states, up), down)

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+", help="one sentence a line")
    parser.add_argument("--sentences", type=int, help="take only so many of each file")
    parser.add_argument("--batch-size", type=int, nargs="+", default=[16, 64, 256])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()

    texts = list(dict.fromkeys(line for path in arguments.files for line in read_lines(path)[: arguments.sentences]))
    kept = get_encoder(resolve("bundled"), RunTime(device="cpu"))
    tokens = sum(len(ids) for ids in kept.tokenizer(texts, truncation=True, max_length=128)["input_ids"])

    def embed(batch_size: int) -> Callable[[], None]:
        return lambda: Encoder(kept.model, kept.tokenizer).embed(texts, batch_size)

    runs = {"floor": products(kept, tokens), **{f"batch {size}": embed(size) for size in arguments.batch_size}}
    medians = interleaved(runs, arguments.rounds, warm_up=1)
    size = f"{len(texts)} distinct sentences, {tokens} tokens"
    print(f"{size}, {torch.get_num_threads()} threads, {arguments.rounds} rounds")
    print_medians(medians)


if __name__ == "__main__":
    main()
