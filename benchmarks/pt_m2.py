"""Speed of PT-M2 beside two BERTScore calls an edit, which is how its program computes the weights.

    python benchmarks/pt_m2.py GOLD.m2 SYSTEM [--sentences 60] [--runs 5] [--model FOLDER]

Both sides take the edits from geceval and the same local encoder (a float32 copy of the bundled one by default). For
each edit u of system and annotator the peer calls the bert-score package for (S + u, R) and for (S, R), as PT-M2's
program does. Equal scores are asserted first. Runs are interleaved; the table gives medians and their ratios.
"""

from __future__ import annotations

import argparse
import tempfile

import numpy as np
from timing import interleaved, peak_memory, print_medians

from geceval.core.files import read_lines
from geceval.core.options import RunTime
from geceval.edits.m2 import read_m2, write_m2
from geceval.models import greedy_matching
from geceval.models.checkpoints import resolve
from geceval.models.loading import load_encoder
from geceval.models.tokenizers import load_tokenizer
from geceval.scorers.bertscore import load_matcher
from geceval.scorers.edit_based import pretrained_weights as pt
from geceval.scorers.edit_based.pretrained_weights import Settings
from geceval.scorers.pt_m2 import PtM2


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("gold")
    arguments.add_argument("system")
    arguments.add_argument("--sentences", type=int, default=60)
    arguments.add_argument("--runs", type=int, default=5)
    arguments.add_argument("--model")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compare(options, options.model or float32_copy(folder), f"{folder}/gold.m2")


def float32_copy(folder):
    load_encoder(resolve("bundled")).save_pretrained(folder)
    load_tokenizer(resolve("bundled")).save_pretrained(folder)
    return folder


def compare(options, model, gold):
    sentences = read_m2(options.gold)[: options.sentences]
    write_m2(gold, sentences)
    sources = [sentence.source for sentence in sentences]
    predictions = read_lines(options.system)[: len(sources)]
    scorer = PtM2(Settings(model=model, gold_m2=gold))
    layer = load_matcher(model, None, None, RunTime()).layer
    peer_counts, calls = peer_of(model, layer)

    def ours():
        greedy_matching.Matcher.networks.cache_clear()  # no pair may be remembered from the run before
        return scorer.score(sources, predictions)

    def peer():
        pt.weighted_counts, kept = peer_counts, pt.weighted_counts
        try:
            return scorer.score(sources, predictions)
        finally:
            pt.weighted_counts = kept

    np.testing.assert_allclose(ours().scores, peer().scores, atol=2e-3)
    print(f"{len(sources)} sentences, {len(calls)} calls of the peer, medians of {options.runs} runs")
    print_medians(interleaved({"geceval": ours, "two bert-score calls an edit": peer}, options.runs))
    print(f"peak memory {peak_memory():.0f} MiB")


def peer_of(model, layer):
    """What stands in for `weighted_counts`, and the list that counts its calls."""
    from bert_score import BERTScorer

    scorer = BERTScorer(model_type=model, num_layers=layer, device="cpu", use_fast_tokenizer=True)
    counted, calls = pt.weighted_counts, []

    def call(candidate, reference):
        calls.append(1)
        if not candidate.strip() or not reference.strip():
            return 0.0  # what the package means to give; with transformers 5 it fails
        return scorer.score([candidate], [reference])[2].item()

    def score(candidates, references):
        source, *changed = candidates  # the first is S itself, which each edit scores anew
        pairs = [(call(text, references[0]), call(source, references[0])) for text in changed]
        return np.array([pairs[0][1], *(after for after, _ in pairs)])

    def counts(comparisons, _, **options):
        return [counted([comparison], score, **options)[0] for comparison in comparisons]

    return counts, calls


if __name__ == "__main__":
    main()
