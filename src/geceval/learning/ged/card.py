"""The model card of an error detector, made from the numbers of its run; nothing in it is typed by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from geceval.core.files import read_json
from geceval.learning.card_parts import evaluation_tables, front_matter, recipe_rows, run_rows, table
from geceval.models.checkpoints import is_bundled

_CARD = """{front}

# Error detector: {title}

A token classifier that says of each word whether it is part of an error ({classes} classes, Yuan et al. 2021). The
label of a word sits on {where}; a missing word is marked at the word to its right, at the end of a sentence
at the last word.

```
geceval detect --model {model} "This are a sentence ."
```

## How it was made

{made}

{data}

## Results

Token-level scores of errors against correct words, and macro scores over the classes, CORRECT included.

On the dev fold, which chose epoch and seed:

{runs}

On sentences that chose nothing:

{tests}
{by_class}{evaluations}
## Limits

- It reads English, tokenised as its training corpora are; words beyond {max_length} word pieces are not looked at.
- It marks what the annotators of its training corpora, learners' essays above all, would correct.
- Its training corpora are for research that is not commercial; ask their owners for other uses.
"""

_WHERE = ("its first sub-token", "its last sub-token, of the second of two copies of the sentence")
_TAGS = ["grammatical-error-detection", "grammatical-error-correction", "geceval"]
_SCORES = ("precision", "recall", "f", "macro_f")


def ged_card(results: Mapping[str, Any], folder: Path) -> str:
    """The card as Markdown."""
    settings = results["settings"]
    bundled = is_bundled(settings["base"])
    base = "an encoder bundled with geceval" if bundled else f"`{settings['base']}`"
    rows = [
        *recipe_rows(settings, f"{base} (`{settings['base']}`)" if bundled else base, results["seed"]),
        ("weight of an error in the loss", f"{settings['error_weight']:g}"),
        ("sentences learnt again with some edits made", f"{settings['partial']:.0%}"),
        ("insertion at the end", settings["final_insertion"]),
    ]
    return _CARD.format(
        front=front_matter(settings["base"], "token-classification", _TAGS),
        title=folder.name,
        model=folder.name,
        classes=settings["classes"],
        where=_WHERE["geceval_border" in read_json(folder / "config.json")],
        made=table(("setting", "value"), rows),
        data=_data(results),
        runs=table(("seed", "best epoch", *_SCORES, "seconds"), run_rows(results["runs"], _SCORES)),
        tests=table(
            ("sentences of", "sentences", "tokens", "errors", *_SCORES),
            [
                (where, found["sentences"], found["tokens"], found["errors"], *(found[name] for name in _SCORES))
                for where, found in results["test"].items()
            ],
        ),
        by_class=_by_class(results["test"]),
        evaluations=evaluation_tables(results),
        max_length=settings["max_length"],
    )


def _data(results: Mapping[str, Any]) -> str:
    settings = results["settings"]
    files = [
        (use, entry["file"], entry["sha256"][:12])
        for use, key in (("divided 8:1:1", "m2"), ("train", "train_m2"), ("dev", "dev_m2"), ("test", "test_m2"))
        for entry in settings[key]
    ]
    counts = [(entry["fold"], entry["sentences"], entry["edits"]) for entry in results["data"]]
    return f"{table(('use', 'file', 'SHA-256'), files)}\n\n{table(('fold', 'sentences', 'edits'), counts)}"


def _by_class(tests: Mapping[str, Any]) -> str:
    parts = []
    for where, found in tests.items():
        if "by_class" in found:
            rows = [(label, s["tokens"], s["precision"], s["recall"], s["f"]) for label, s in found["by_class"].items()]
            parts.append(f"\n{where}:\n\n{table(('class', 'tokens', 'precision', 'recall', 'f'), rows)}\n")
    return "".join(parts)
