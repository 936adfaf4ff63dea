"""`compute_metrics` for `transformers.Seq2SeqTrainer`; public as `geceval.trainer_metrics`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set, Sized
from typing import Any

import numpy as np

from geceval import registry
from geceval.core.errors import InputError, naming_the_extra
from geceval.core.inputs import References, check_columns
from geceval.core.result import Result
from geceval.core.warnings import Kind, once
from geceval.workflows.reward import bare


def trainer_metrics(
    tokenizer: Any,
    metrics: str | Sequence[str],
    *,
    arguments: Any = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    prefix: str = "",
    sources: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    references: References | Mapping[str, References] | None = None,
) -> TrainerMetrics:
    """A function for the argument `compute_metrics` of `Seq2SeqTrainer`; all models are loaded now, and only once.

    The trainer's arguments must have `predict_with_generate=True` and, unless `sources` are given,
    `include_for_metrics=["inputs"]`. `metric_for_best_model` then is e.g. `"errant_f"` or `"impara"`. The trainer shows
    its arguments to no function before the first evaluation: pass them, and what they lack is found at once.

    Args:
        tokenizer: The model's tokenizer, which decodes inputs, predictions and labels.
        metrics: One or more of `geceval.list_metrics()`.
        arguments: The `Seq2SeqTrainingArguments` of the trainer, to be checked now.
        options: Metric to its settings and run-time options, e.g. `{"impara": {"device": "cpu"}}`.
        prefix: The text of the inputs before the source, e.g. `"grammar: "`.
        sources: The original sources of the evaluation set, one string per sentence in the order of the set, for
            tokenizers whose decoded text differs from the original; by default the decoded inputs.
        references: Likewise, one list of references per sentence; by default the decoded labels, one reference each.
            For several data sets: a dict of such lists, of which the number of rows tells the right one.
            The trainer keeps the order of the set unless `train_sampling_strategy` is `"group_by_length"`.

    Returns:
        A function from an `EvalPrediction` to numbers by name: `impara` is the score of impara, `errant_f` the detail
        `f` of errant, and so on. Lists, texts and tables of a result are left out.

    Raises:
        TypeError: If an option does not exist.
        ValueError: If there is no such metric, options are given for one that is not computed, a model cannot be
            used, or the arguments lack something.
    """
    scorers = registry.make_scorers("trainer_metrics", metrics, options)
    _check_columns(_by_set(sources), _by_set(references))
    _check_sizes("sources", sources)
    _check_sizes("references", references)
    if arguments is not None:
        _check(arguments, list(scorers), sources is None, sources is not None or references is not None)
    for name, scorer in scorers.items():
        with naming_the_extra(name):
            scorer.load()
    best = getattr(arguments, "metric_for_best_model", None) or "loss"
    _check_best(best.removeprefix("eval_"), scorers, {*_by_set(sources), *_by_set(references)} - {""})
    return TrainerMetrics(tokenizer, scorers, prefix, sources, references)


def _check(arguments: Any, metrics: Sequence[str], reads_inputs: bool, needs_order: bool) -> None:
    """Name everything that the arguments of the trainer lack."""
    by_length = getattr(arguments, "train_sampling_strategy", "") == "group_by_length"  # transformers 5.2 and later
    by_length |= getattr(arguments, "group_by_length", False)
    wrong = {
        "predict_with_generate=True": not getattr(arguments, "predict_with_generate", False),
        'include_for_metrics=["inputs"]': reads_inputs and "inputs" not in arguments.include_for_metrics,
        "prediction_loss_only=False": arguments.prediction_loss_only,
        "batch_eval_metrics=False": arguments.batch_eval_metrics,
        "another train_sampling_strategy than group_by_length, or no sources= and references=": needs_order
        and by_length,
    }
    lacking = [need for need, missing in wrong.items() if missing]
    if lacking:
        raise InputError(f"trainer_metrics: the arguments of the trainer must have {', '.join(lacking)}")


def _check_sizes(what: str, columns: Any) -> None:
    """Check that the number of rows tells which data set a column of a dict belongs to."""
    sizes = [len(column) for column in columns.values()] if isinstance(columns, Mapping) else []
    if len(set(sizes)) < len(sizes):
        raise InputError(
            f"trainer_metrics: {what} of data sets are told apart by their number of rows, and these have "
            f"{', '.join(f'{name} {size}' for name, size in zip(columns, sizes, strict=True))}"
        )


def _by_set(columns: Any) -> Mapping[str, Any]:
    """The columns of data sets by name; `""` for those of the only one."""
    return columns if isinstance(columns, Mapping) else {} if columns is None else {"": columns}


def _check_columns(sources: Mapping[str, Any], references: Mapping[str, Any]) -> None:
    """Check the texts of each data set, which a trainer would need only after an epoch."""
    if sources and references and sources.keys() != references.keys():
        sets = " and ".join(
            f"{what} of {', '.join(map(repr, of))}" for what, of in (("sources", sources), ("references", references))
        )
        raise InputError(f"trainer_metrics: there are {sets}; pass both for the same data sets")
    for name in {**sources, **references}:
        rows = references.get(name)
        texts = sources.get(name, [""] * len(rows) if isinstance(rows, Sized) else [""])
        where = f"trainer_metrics, {name}" if name else "trainer_metrics"
        check_columns(where, texts, texts, rows, needs_references=rows is not None, warn=name in sources)


def _of_set(what: str, columns: Any, rows: int) -> Any:
    """The column of the data set that has so many rows."""
    if not isinstance(columns, Mapping):
        return columns
    sizes = {len(column): column for column in columns.values()}
    if rows not in sizes:
        known = ", ".join(f"{name} {len(column)}" for name, column in columns.items())
        raise InputError(f"trainer_metrics: there are {rows} predictions, and {what} for sets of other sizes: {known}")
    return sizes[rows]


def _check_best(best: str, scorers: Mapping[str, Any], sets: Set[str]) -> None:
    """Check that `metric_for_best_model` is a number of the metrics, by those of one sentence."""
    # For several data sets, it begins with the name of one; without columns by name, any may be meant.
    prefixes = ["", *(f"{name}_" for name in sets)]
    others = [name for name in registry.list_metrics() if name not in scorers and f"{best}_".startswith(f"{name}_")]
    text = ["This is a sentence ."]
    numbers = [
        key
        for name, scorer in scorers.items()
        if name in best and not best.endswith("loss")
        for key in scalars(name, scorer.score(text, text, [text] if scorer.needs_references() else None))
    ]
    exact = any(best == prefix + key for prefix in prefixes for key in numbers)
    of_a_set = not sets and not others and any(best.endswith(f"_{key}") for key in numbers)
    if not (best.endswith("loss") or exact or of_a_set):
        names = ", ".join(numbers or scorers)
        raise InputError(f"trainer_metrics: metric_for_best_model is {best!r}, no number of {names}")


class TrainerMetrics:
    """The function that `trainer_metrics` makes."""

    def __init__(
        self,
        tokenizer: Any,
        scorers: Mapping[str, Any],
        prefix: str,
        sources: Sequence[str] | Mapping[str, Sequence[str]] | None,
        references: References | Mapping[str, References] | None,
    ) -> None:
        self._tokenizer, self._scorers, self._prefix = tokenizer, scorers, prefix
        self._sources, self._references = sources, references
        self._warned: set[Kind] = set()

    def __call__(self, evaluated: Any) -> dict[str, float]:
        """Score the sentences that the trainer generated.

        Args:
            evaluated: `transformers.EvalPrediction` with token ids, [sentences][tokens], padded with -100 or the
                padding token.

        Raises:
            ValueError: If predictions are not generated token ids, inputs or labels are missing, an input lacks the
                prefix, or the number of sources or references differs from that of the predictions.
        """
        predictions = self._decode("predictions", evaluated.predictions, "predict_with_generate=True")
        sources = _of_set("sources", self._sources, len(predictions))
        if sources is None:
            texts = self._decode("inputs", evaluated.inputs, 'include_for_metrics=["inputs"]')
            sources = [bare(text, self._prefix, "", f"inputs[{row}]") for row, text in enumerate(texts)]
        references = _of_set("references", self._references, len(predictions))
        if references is None and any(scorer.needs_references() for scorer in self._scorers.values()):
            references = self._decode("labels", evaluated.label_ids, "labels in the evaluation set")
        numbers: dict[str, float] = {}
        with once(self._warned):
            for name, scorer in self._scorers.items():
                targets = references if scorer.needs_references() else None
                numbers |= scalars(name, scorer.score(sources, predictions, targets))
        return numbers

    def _decode(self, what: str, ids: Any, remedy: str) -> list[str]:
        ids = ids[0] if isinstance(ids, tuple) else ids
        if ids is None:
            raise InputError(f"trainer_metrics: there are no {what}; the trainer needs {remedy}")
        ids = np.asarray(ids)
        if ids.ndim != 2 or not np.issubdtype(ids.dtype, np.integer):
            shape = "x".join(map(str, ids.shape))
            raise InputError(
                f"trainer_metrics: {what} must be token ids, [sentences][tokens], got {ids.dtype} numbers of shape "
                f"{shape}, perhaps logits; the trainer needs {remedy}"
            )
        rows = [[token for token in row if token >= 0] for row in ids.tolist()]
        # The sentences are tokenised: a tokenizer that tidies up would move their full stops.
        texts = self._tokenizer.batch_decode(rows, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return [text.strip() for text in texts]


def scalars(name: str, result: Result) -> dict[str, float]:
    """The numbers of a result as a flat dict: `name` is the score, `name_f` its detail `f`."""
    numbers = {
        f"{name}_{key}": value
        for key, value in result.details.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    return {name: result.score, **numbers}
