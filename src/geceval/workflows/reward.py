"""A metric as a reward function (TRL) or data filter (`datasets`); public as `geceval.reward`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from geceval import registry
from geceval.core.errors import InputError, InputTypeError, naming_the_extra


def reward(metric: str, *, prefix: str = "", suffix: str = "", **options: Any) -> Reward:
    """A function from a batch of sources and a batch of corrections to one reward per correction.

    Data filtering: `data.filter(lambda s, p: [value > 0.5 for value in judge(s, p)], batched=True,
    input_columns=["source", "prediction"])` with `judge = geceval.reward("impara")`. TRL: `GRPOTrainer(...,
    reward_funcs=geceval.reward("impara", prefix="Correct: "))`, or without `prefix` if the data set has a column
    `sources`. Models are loaded at the first call, once per process.

    Args:
        metric: One of `geceval.list_metrics()`.
        prefix: The text of prompts before the source; used only for `prompts`.
        suffix: The text of prompts after it.
        options: Settings and run-time options of the metric.

    Raises:
        TypeError: If an option does not exist.
        ValueError: If there is no such metric or an option has a bad value.
    """
    return Reward(metric, prefix, suffix, options)


class Reward:
    """The function that `reward` makes; its pickle does not change with use, so `datasets` caches maps with it."""

    def __init__(self, metric: str, prefix: str, suffix: str, options: Mapping[str, Any]) -> None:
        self.metric = metric
        self.__name__ = f"geceval_{metric}"  # under which TRL logs it
        self._prefix, self._suffix, self._options = prefix, suffix, dict(sorted(options.items()))
        self._scorer = registry.make_scorer(metric, options)

    def __reduce__(self) -> tuple[Any, ...]:
        return Reward, (self.metric, self._prefix, self._suffix, self._options)

    def __call__(
        self,
        sources: Sequence[str] | None = None,
        predictions: Sequence[str] | None = None,
        references: Sequence[Any] | None = None,
        *,
        prompts: Sequence[Any] | None = None,
        completions: Sequence[Any] | None = None,
        **columns: Any,
    ) -> list[float]:
        """Score each correction.

        Args:
            sources: One string per sentence.
            predictions: One string per sentence.
            references: One list of references per sentence, for metrics that need them.
            prompts: In place of `sources`: texts, or conversations (lists of `{"role": ..., "content": ...}`), whose
                last user message counts. Prefix and suffix are removed.
            completions: In place of `predictions`: texts, or conversations, whose last message counts. White space at
                both ends is removed.
            columns: Everything else that TRL passes; ignored. Only with `completions`.

        Returns:
            The metric's sentence scores; for an empty batch `[]`.

        Raises:
            TypeError: If a column has the wrong type or is missing, or a keyword is unknown.
            ValueError: If a prompt lacks the prefix or the suffix, or columns do not fit together.
        """
        if columns and completions is None:
            raise InputTypeError(
                f"{self.__name__}: unknown column {next(iter(columns))!r}; pass sources and predictions"
            )
        if completions is not None:
            predictions = [_text(row, f"completions[{i}]", None).strip() for i, row in enumerate(completions)]
        if sources is None and prompts is not None:
            texts = [_text(row, f"prompts[{i}]", "user") for i, row in enumerate(prompts)]
            sources = [bare(text, self._prefix, self._suffix, f"prompts[{i}]") for i, text in enumerate(texts)]
        if sources is None or predictions is None:
            missing = "sources (or prompts)" if sources is None else "predictions (or completions)"
            raise InputTypeError(f"{self.__name__}: {missing} are missing")
        if not len(sources) and not len(predictions):
            return []
        if not self._scorer.needs_references():
            references = None
        with naming_the_extra(self.metric):
            return self._scorer.score(list(sources), list(predictions), references).scores


def bare(text: str, prefix: str, suffix: str, row_name: str) -> str:
    """A text without its prefix and suffix, and without white space at both ends; these may differ in white space."""
    text, prefix, suffix = text.strip(), prefix.strip(), suffix.strip()
    if not text.startswith(prefix):
        raise InputError(f"{row_name} does not start with the prefix {prefix!r}, got {text[:80]!r}")
    text = text.removeprefix(prefix).lstrip()
    if not text.endswith(suffix):
        raise InputError(f"{row_name} does not end with the suffix {suffix!r}, got {text[-80:]!r}")
    return text.removesuffix(suffix).rstrip()


def _text(row: Any, row_name: str, role: str | None) -> str:
    """A text, or that of the last message of a conversation (of a role, if one is given)."""
    if isinstance(row, str):
        return row
    if isinstance(row, Sequence) and all(isinstance(message, Mapping) for message in row):
        said = [message.get("content") for message in row if role in (None, message.get("role"))]
        if said and isinstance(said[-1], str):
            return said[-1]
    raise InputTypeError(f"{row_name} must be a text or a list of messages with texts, got {row!r:.80}")
