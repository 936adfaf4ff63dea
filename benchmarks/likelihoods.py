"""Likelihoods of sentences under a causal language model beside a plain loop of transformers and the matrix floor.

    OMP_NUM_THREADS=1 python benchmarks/likelihoods.py ../shared/data/seeda/outputs/subset/*.txt --sentences 20

First the model is loaded, once with the modules that it needs and once more: printed are the seconds and the peak of
memory. Then all sides take turns, remembering nothing: geceval; a loop that pads each 32 texts, in the order of the
files, to the longest, has the model give all logits, and gathers those of the next tokens, once over the distinct
lines and once over all; and the bare matrix products of the distinct lines' tokens. The loop and geceval must agree to
1e-3 in every sum, or no times are given. Printed are medians over the rounds, and distinct sentences a second.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from timing import interleaved, peak_memory, print_medians

from geceval.core.cache.memory import clear_caches
from geceval.core.files import read_lines
from geceval.core.options import RunTime
from geceval.models.causal import CausalModel
from geceval.models.checkpoints import resolve

BATCH = 32
ROWS = 2048


def loop(reader: CausalModel, texts: list[str]) -> list[float]:
    """Sums of log P(token | before) as one writes it with transformers."""
    tokenizer, model = reader.tokenizer, reader.model
    found: list[float] = []
    for start in range(0, len(texts), BATCH):
        rows = [reader.start_token + text for text in texts[start : start + BATCH]]
        batch = tokenizer(rows, return_tensors="pt", padding=True, padding_side="right", add_special_tokens=False)
        with torch.inference_mode():
            log_probs = model(**batch, use_cache=False).logits[:, :-1].log_softmax(-1)
        of_tokens = log_probs.gather(-1, batch["input_ids"][:, 1:, None]).squeeze(-1)
        found += (of_tokens * batch["attention_mask"][:, 1:]).sum(1).tolist()
    return found


def multiply(model: Any, tokens: int) -> None:
    """The products of all linear layers of a network, the output layer included, for so many tokens."""
    layers = [module for module in model.modules() if isinstance(module, torch.nn.Linear)]
    inputs = {layer.in_features: torch.randn(ROWS, layer.in_features) for layer in layers}
    with torch.inference_mode():
        for start in range(0, tokens, ROWS):
            for layer in layers:
                layer(inputs[layer.in_features][: tokens - start])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", help="one sentence a line")
    parser.add_argument("--sentences", type=int, help="take only so many of each file")
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()

    for load in ("loaded", "loaded again"):
        reader = None
        clear_caches()
        wall, cpu = time.perf_counter(), time.process_time()
        reader = CausalModel.load(resolve(arguments.model), RunTime(device="cpu"))
        took = f"{time.perf_counter() - wall:.2f} s, by processor time {time.process_time() - cpu:.2f} s"
        print(f"{reader.name} {load} in {took}; peak memory {peak_memory():.0f} MiB")
    lines = [line for path in arguments.files for line in read_lines(path)[: arguments.sentences] if line.strip()]
    texts = list(dict.fromkeys(lines))
    tokens = sum(map(len, reader.tokenizer(texts, add_special_tokens=False)["input_ids"]))

    def geceval() -> list[float]:
        fresh = CausalModel(reader.model, reader.tokenizer, reader.max_length, reader.name, reader.start_token)
        return [float(row.sum()) for row in fresh.token_log_probs(lines, RunTime(cache=None))]

    difference = np.abs(np.subtract(geceval(), loop(reader, lines))).max()
    if difference > 1e-3:
        raise SystemExit(f"the sums differ by {difference:.2g}")
    sides = {
        "floor": lambda: multiply(reader.model, tokens),
        "geceval": geceval,
        "loop, distinct texts": lambda: loop(reader, texts),
        "loop, all texts": lambda: loop(reader, lines),
    }
    medians = interleaved(sides, arguments.rounds)
    threads = f"{torch.get_num_threads()} thread{'s' if torch.get_num_threads() > 1 else ''}"
    print(f"{len(lines)} sentences, {len(texts)} distinct of {tokens} tokens, {threads}, {arguments.rounds} rounds")
    print(f"sums differ by at most {difference:.1g}; peak memory of all sides {peak_memory():.0f} MiB")
    print_medians(medians)
    for name, (wall, cpu) in medians.items():
        print(f"{name}: {len(texts) / wall:.1f} distinct sentences a second, {len(texts) / cpu:.1f} by processor time")


if __name__ == "__main__":
    main()
