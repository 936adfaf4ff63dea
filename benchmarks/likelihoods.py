"""Likelihoods under a causal language model: prefix trees, plain batches, a loop of transformers, the matrix floor.

    OMP_NUM_THREADS=1 python benchmarks/likelihoods.py ../shared/data/seeda/outputs/subset/*.txt --sentences 20

First the model is loaded, once with the modules that it needs and once more: printed are the seconds and the peak of
memory. Then all sides take turns, remembering nothing, for three sets of texts: the lines of all files; those of the
first one alone; and its sentences with any of the edits made that lead to the line of another file, of which that with
the most is taken, as Shapley values need them. The
sides are geceval, which reads each prefix once; geceval with each distinct text read by itself; a loop that pads each
32 texts, in the order of the files, to the longest, has the model give all logits, and gathers those of the next
tokens; and the bare matrix products of the distinct lines' tokens. The sums must agree, in float32 to 1e-3, or no times
are given. Printed are medians of the rounds.
"""

from __future__ import annotations

import argparse
import itertools
import time
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np
import torch
from timing import interleaved, peak_memory, print_medians

from geceval.core.cache import clear_caches
from geceval.core.files import read_lines
from geceval.core.options import RunTime
from geceval.models.causal import CausalModel
from geceval.models.checkpoints import resolve

BATCH = 32
ROWS = 2048
MOST_EDITS = 6
TOLERANCE = {"float32": 1e-3, "bfloat16": 2.0}


def sums(reader: CausalModel, texts: list[str], trees: bool = True) -> list[float]:
    """Sums of log P(token | before) by a reader that remembers nothing."""
    fresh = CausalModel(reader.model, reader.tokenizer, reader.max_length, reader.name, reader.start_token)
    fresh._most_nodes = reader._most_nodes if trees else 0
    return [float(row.sum()) for row in fresh.token_log_probs(texts, RunTime(cache=None))]


def loop(reader: CausalModel, texts: list[str]) -> list[float]:
    """The same as one writes it with transformers."""
    tokenizer, model = reader.tokenizer, reader.model
    found: list[float] = []
    for start in range(0, len(texts), BATCH):
        rows = [reader.start_token + text for text in texts[start : start + BATCH]]
        batch = tokenizer(rows, return_tensors="pt", padding=True, padding_side="right", add_special_tokens=False)
        with torch.inference_mode():
            log_probs = model(**batch, use_cache=False).logits[:, :-1].float().log_softmax(-1)
        of_tokens = log_probs.gather(-1, batch["input_ids"][:, 1:, None]).squeeze(-1)
        found += (of_tokens * batch["attention_mask"][:, 1:]).sum(1).tolist()
    return found


def multiply(model: Any, tokens: int) -> None:
    """The products of all linear layers of a network, the output layer included, for so many tokens."""
    layers = [module for module in model.modules() if isinstance(module, torch.nn.Linear)]
    inputs = {layer.in_features: torch.randn(ROWS, layer.in_features, dtype=model.dtype) for layer in layers}
    with torch.inference_mode():
        for start in range(0, tokens, ROWS):
            for layer in layers:
                layer(inputs[layer.in_features][: tokens - start])


def variants(source: str, correction: str) -> list[str]:
    """The source with any of the differences to the correction made, of which the first six count."""
    before, after = source.split(), correction.split()
    parts, edits = [], 0
    for tag, start, end, other, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        edits += tag != "equal"
        choices = (
            [before[start:end], after[other:last]] if tag != "equal" and edits <= MOST_EDITS else [before[start:end]]
        )
        parts.append(choices)
    return [" ".join(itertools.chain.from_iterable(chosen)) for chosen in itertools.product(*parts)]


def compare(reader: CausalModel, title: str, lines: list[str], rounds: int) -> None:
    """Print the times of all sides for some lines."""
    texts = list(dict.fromkeys(lines))
    tokens = sum(map(len, reader.tokenizer(texts, add_special_tokens=False)["input_ids"]))
    expected = loop(reader, lines)
    differences = [np.abs(np.subtract(sums(reader, lines, trees), expected)).max() for trees in (True, False)]
    if max(differences) > TOLERANCE[str(reader.model.dtype).removeprefix("torch.")]:
        raise SystemExit(f"{title}: the sums differ by {max(differences):.2g}")
    sides = {
        "geceval": lambda: sums(reader, lines),
        "plain batches": lambda: sums(reader, lines, trees=False),
        "loop": lambda: loop(reader, lines),
        "floor of plain": lambda: multiply(reader.model, tokens),
    }
    print(
        f"\n{title}: {len(lines)} texts, {len(texts)} distinct of {tokens} tokens; sums within {max(differences):.1g}"
    )
    medians = interleaved(sides, rounds)
    print_medians(medians)
    wall, cpu = medians["geceval"]
    print(f"{len(texts) / wall:.1f} distinct texts a second, {len(texts) / cpu:.1f} by processor time", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", help="one sentence a line")
    parser.add_argument("--sentences", type=int, help="take only so many of each file")
    parser.add_argument("--skip", type=int, default=0, help="leave out so many of each file first")
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--dtype", choices=TOLERANCE, default="float32")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()

    for load in ("loaded", "loaded again"):
        reader = None
        clear_caches()
        wall, cpu = time.perf_counter(), time.process_time()
        reader = CausalModel.load(resolve(arguments.model), RunTime(device="cpu", dtype=arguments.dtype))
        took = f"{time.perf_counter() - wall:.2f} s, by processor time {time.process_time() - cpu:.2f} s"
        print(f"{reader.name} {load} in {took}; peak memory {peak_memory():.0f} MiB")
    threads = f"{torch.get_num_threads()} thread{'s' if torch.get_num_threads() > 1 else ''}"
    print(f"{arguments.dtype}, {threads}, {arguments.rounds} rounds")
    chosen = slice(arguments.skip, arguments.skip + arguments.sentences if arguments.sentences else None)
    systems = [read_lines(path)[chosen] for path in arguments.files]
    of_each = (max((variants(row[0], text) for text in row), key=len) for row in zip(*systems, strict=True))
    cases = {
        f"{len(systems)} systems": [line for system in systems for line in system],
        "one system": systems[0],
        "variants for Shapley values": list(itertools.chain.from_iterable(of_each)),
    }
    for title, lines in cases.items():
        compare(reader, title, [line for line in lines if line.strip()], arguments.rounds)
    print(f"peak memory of all sides {peak_memory():.0f} MiB")


if __name__ == "__main__":
    main()
