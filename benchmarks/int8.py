"""What 8-bit weights would gain for the causal language model and what they cost: `fluency` on the example corpus.

OMP_NUM_THREADS=1 ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2 python benchmarks/int8.py [--engine onednn]

The two variables make a processor with AVX-512 do what one with AVX2 alone would; float32 is no slower for them.
The engines x86 and fbgemm ignore them.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch

import geceval
from geceval import registry
from geceval.core.files import read_lines
from geceval.core.options import RunTime

EXAMPLE = Path(geceval.__file__).parent / "assets" / "example"


def scored(options: dict[str, object], sources: list[str], systems: dict[str, list[str]]) -> tuple[np.ndarray, float]:
    """Sentence scores, [systems, sentences], and the seconds of processor time that they took."""
    scorer = registry.make_scorer("fluency", {"device": "cpu", "cache": None, **options})
    start = time.process_time()
    results = registry.score_systems(scorer, sources, systems).values()
    return np.array([result.scores for result in results]), time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--engine", default="onednn", choices=torch.backends.quantized.supported_engines)
    options = parser.parse_args()
    model, torch.backends.quantized.engine = options.model, options.engine
    sources = read_lines(EXAMPLE / "source.txt")
    systems = {path.stem: read_lines(path) for path in sorted((EXAMPLE / "systems").glob("*.txt"))}
    reader = registry.make_scorer("fluency", {"device": "cpu", "model": model})._model()  # one for all scorers
    reader.model(torch.tensor([[1, 2, 3]]))  # the first call is slower
    exact, before = scored({"model": model}, sources, systems)
    reader.models = [torch.ao.quantization.quantize_dynamic(reader.model, {torch.nn.Linear}, dtype=torch.qint8)]
    found = {}
    for size in (1, RunTime().batch_size):
        reader._answers.cache_clear()
        found[size], after = scored({"model": model, "batch_size": size}, sources, systems)
    moved, between = (np.abs(scores - found[1]) for scores in (exact, found[RunTime().batch_size]))
    rankings = [np.argsort(scores.mean(axis=1)).tolist() for scores in (exact, *found.values())]
    print(f"{exact.size} texts; float32 {before:.1f} s, int8 {after:.1f} s: {before / after:.2f} times as fast")
    print(f"sentence scores move by {moved.max():.3f} at most, {moved.mean():.3f} on average")
    print(f"with batches of 1 and of {RunTime().batch_size} they differ by {between.max():.3f} at most")
    print(f"rankings of the {len(systems)} systems: {'the same' if rankings[1:] == rankings[:1] * 2 else rankings}")


if __name__ == "__main__":
    main()
