"""The model card of an IMPARA or IMPARA-GED checkpoint, made from the numbers of its run, nothing typed by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from geceval.core.files import read_json
from geceval.learning.card_parts import evaluation_tables, front_matter, pooling_row, recipe_rows, run_rows, table
from geceval.models.checkpoints import BUNDLED, is_bundled

_CARD = """{front}

# {title}

The quality estimator of {paper}: given a corrected sentence, one logit whose sigmoid says how good
it reads. It was trained to prefer, of two partial corrections of one sentence, the one whose edits move the meaning of
the corrected sentence more. It compares corrections of one source; its values mean nothing in themselves.

```python
import geceval

{metric} = geceval.load("{metric}"{model})
{metric}.compute(sources=["This are a sentence ."], predictions=["This is a sentence ."])
```

## How it was made

{made}

{corpora}

Sources are divided 8:1:1 before pairs are made, so no source is in two folds. {kind}

## Results

Loss is the mean of sigmoid(q(worse) - q(better)): 0.5 is chance, 0 perfect. Accuracy is the share of pairs whose better
text gets the higher score.

{runs}

On the test fold of the pairs ({test[pairs]} pairs, never used to choose anything) the finished checkpoint has loss
{test[loss]:.3f} and accuracy {test[accuracy]:.3f}.
{evaluations}
{similarity}## Limits

- It reads English, tokenised as its training corpora are, and at most {max_length} word pieces of a text.
- It never sees the source: {guard}.
- It favours what the annotators of its training corpora favour; another domain or style wants its own training.
"""

_TAGS = ["grammatical-error-correction", "evaluate"]

_SIMILARITY = """## Similarity estimator

A correction counts only if the cosine between the mean token states of source and correction, in {se_model}, exceeds
{threshold:g}. {calibration}

"""


def impara_card(results: Mapping[str, Any], folder: Path) -> str:
    """The card as Markdown."""
    settings, name, config = results["settings"], folder.name, read_json(folder / "config.json")
    bundled = is_bundled(settings["base"])
    metric = "impara" if config["geceval_threshold"] >= -1 else "impara_ged"
    return _CARD.format(
        front=front_matter(settings["base"], "text-classification", _TAGS + [metric]),
        metric=metric,
        title=f"{metric.upper().replace('_', '-')} quality estimator: {name}",
        paper=_PAPERS[metric],
        model="" if bundled and name == metric else f', model="{name}"',
        made=_made(settings, results),
        corpora=corpora_table(results["data"], settings),
        kind=_kind(settings),
        runs=runs_table(results["runs"]),
        test=results["test"],
        evaluations=evaluation_tables(results),
        similarity=_similarity(results, config) if metric == "impara" else "",
        guard=f"meaning is {'guarded by the similarity estimator alone' if metric == 'impara' else 'not guarded'}",
        max_length=config["geceval_max_length"],
    )


_PAPERS = {"impara": "IMPARA (Maeda et al. 2022)", "impara_ged": "IMPARA-GED"}


def _similarity(results: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    model = config["geceval_se_model"]
    return _SIMILARITY.format(
        se_model="the bundled encoder" if model == BUNDLED else f"`{model}`",
        threshold=config["geceval_threshold"],
        calibration=_calibration(results.get("calibration")),
    )


def _made(settings: Mapping[str, Any], results: Mapping[str, Any]) -> str:
    base = "the encoder bundled with geceval" if settings["base"] == BUNDLED else f"`{settings['base']}`"
    rows = recipe_rows(settings, base, results["seed"])
    rows[2:2] = [
        pooling_row(settings),
        ("start of pooler, head", f"{settings['pooler']}, {settings['head_deviation'] or 'default'}"),
    ]
    if rank := settings.get("keep_rank"):
        rows.insert(2, ("kept", f"what tuning changed in linear layers, as an adapter of rank {rank}"))
    if "log_odds" in results:
        change = "times {scale:.3g}, plus {shift:.3g}".format(**results["log_odds"])
        rows.append(("finished logit", f"{change}: differences are log-odds on the dev fold, the mean there is 0"))
    return table(("setting", "value"), rows)


def corpora_table(data: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]) -> str:
    """The corpora of a run on ranked pairs: name, hash, sizes."""
    files = [entry for key in ("m2", "train_m2") for entry in settings.get(key, ())]
    hashes = {entry["file"]: entry["sha256"][:12] for entry in files}
    rows = [
        (d["corpus"], hashes.get(d["corpus"], ""), d["corrections"], d["edits"], *d["pairs"].values()) for d in data
    ]
    return table(("corpus", "SHA-256", "corrected sentences", "edits", "training pairs", "dev", "test"), rows)


def _kind(settings: Mapping[str, Any]) -> str:
    if settings["parallel_only"]:
        return "The pairs are source and full correction (the paper's ablation)."
    return f"At most {settings['attempts']} pairs were drawn from one correction; ties of impact were dropped."


def runs_table(runs: Sequence[Mapping[str, Any]]) -> str:
    """The runs of all seeds: the best evaluation, losses and accuracies there, seconds."""
    names = [name for name in runs[0]["history"][0] if name.endswith(("_loss", "_accuracy"))]
    columns = [name.replace("_", " ").replace("rated", "rated pairs") for name in names]
    return table(("seed", "best epoch", *columns, "seconds"), run_rows(runs, names))


def _calibration(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return "The threshold was set by hand or taken over; `training/calibrate_threshold.py` finds one from data."
    share = f"{found['corrections_kept']:.2%} of {found['corrections']} genuine corrections exceed it, and"
    others = (
        f"{found['different_above']:.2%} of all pairs of {found['different_sentences']} different sentences do "
        f"(the most similar pair reaches {found['highest_different']:.3f}"
    )
    if found["rule"] == "different":
        return f"It lies above every pair of different sentences. {share} {others})."
    return (
        "It is the value that keeps 99.5 % of genuine corrections (those that leave at least half as many words): "
        f"{share} {others}, a threshold that would let only "
        f"{found['kept_at_highest']:.2%} of genuine corrections through)."
    )
