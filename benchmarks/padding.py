"""What the token budget of a batch saves: padded tokens and the largest batch, beside batches of as many sentences.

python benchmarks/padding.py FILE [FILE ...] [--batch-size 64] [--model bundled]
"""

from __future__ import annotations

import argparse

from geceval.core.files import read_lines
from geceval.models.batching import form_batches
from geceval.models.checkpoints import resolve
from geceval.models.tokenizers import load_tokenizer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--max-length", type=int, default=128)
    options = parser.parse_args()
    tokenizer = load_tokenizer(resolve(options.model))
    size = options.batch_size
    for path in options.files:
        texts = list(dict.fromkeys(read_lines(path)))
        ids = tokenizer(texts, truncation=True, max_length=options.max_length)["input_ids"]
        lengths = sorted(map(len, ids), reverse=True)
        plain = [len(lengths[k : k + size]) * lengths[k] for k in range(0, len(lengths), size)]
        budget = [len(batch) * lengths[batch[0]] for batch in form_batches(lengths, size)]
        print(f"{path}: {len(texts)} texts, {sum(lengths)} tokens")
        for name, areas in (("sentences only", plain), ("token budget", budget)):
            padding = 100 * (sum(areas) / sum(lengths) - 1)
            print(f"  {name}: {len(areas)} batches, {padding:.1f} % padding, the largest has {max(areas)} tokens")


if __name__ == "__main__":
    main()
