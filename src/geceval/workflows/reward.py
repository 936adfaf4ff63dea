"""A metric as a reward function (TRL, verifiers) or data filter (`datasets`); public as `geceval.reward`."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from geceval import registry
from geceval.core.errors import InputError, InputTypeError
from geceval.core.warnings import Kind, once
from geceval.scorers.learned.guarded import GuardedScorer

logger = logging.getLogger("geceval")

WINDOW = 256  # completions
WARN_AT_RISE = 0.2


def reward(
    metric: str, *, prefix: str = "", suffix: str = "", clip: tuple[float, float] | None = None, **options: Any
) -> Reward:
    """A function from a batch of sources and a batch of corrections to one reward per correction.

    Data filtering: `data.filter(lambda s, p: [value > 0.5 for value in judge(s, p)], batched=True,
    input_columns=["source", "prediction"])` with `judge = geceval.reward("impara")`. TRL: `GRPOTrainer(...,
    reward_funcs=geceval.reward("impara", prefix="Correct: "))`, or without `prefix` if the data set has a column
    `sources`. verifiers: `Rubric(funcs=[geceval.reward("errant")])`, where the rows' `answer`, or `references` in their
    `info`, are the references. Models are loaded at the first call, once per process.

    A policy finds what a metric overlooks. A metric that has the setting `guard` therefore takes `guard="strict"` here
    unless another is named, and is logged as e.g. `geceval_impara_lm_strict`; its rewards are clipped to the scores
    that honest corrections have, so that no outlier dominates a GRPO group; and there is one warning if the share of
    penalised completions among the latest 256 exceeds that of the first 256 by .2 or more. `Reward.components` gives
    quality and penalty apart, which TRL logs.

    Args:
        metric: One of `geceval.list_metrics()`.
        prefix: The text of prompts before the source; used only for `prompts`.
        suffix: The text of prompts after it.
        clip: The lowest and the highest reward. `None` takes the range of honest corrections' scores of an unbounded
            metric with a guard, e.g. -12 and 6 for `impara_lm`; other metrics are not clipped.
        options: Settings and run-time options of the metric.

    Raises:
        TypeError: If an option does not exist.
        ValueError: If there is no such metric or an option has a bad value.
    """
    return Reward(metric, prefix, suffix, clip, options)


class Reward:
    """Made by `reward`; pickled by its arguments only, so that `datasets` can cache a map that uses it."""

    def __init__(
        self, metric: str, prefix: str, suffix: str, clip: tuple[float, float] | None, options: Mapping[str, Any]
    ) -> None:
        self.metric = metric
        self._prefix, self._suffix, self._options = prefix, suffix, dict(sorted(options.items()))
        guards = issubclass(registry.scorer_class(metric), GuardedScorer)
        self._scorer = registry.make_scorer(metric, {"guard": "strict", **options} if guards else options)
        self._scorer.row_by_row = True
        self.__name__ = f"geceval_{metric}" + (f"_{self._scorer.settings.guard}" if guards else "")  # in TRL's log
        self._clip = clip
        self._range = _checked(clip) or (self._scorer.effect.reward_range if guards else None) or (-np.inf, np.inf)
        self._first: list[bool] = []
        self._latest: deque[bool] = deque(maxlen=WINDOW)
        self._warned: set[Kind] = set()

    def __reduce__(self) -> tuple[Any, ...]:
        return Reward, (self.metric, self._prefix, self._suffix, self._clip, self._options)

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
            columns: Everything else that TRL or verifiers pass, only with `completions`. TRL's `log_metric` is given
                the means of `quality` and `guard`, see `components`, its `log_extra` the reasons. Without
                `references`, they come from verifiers' `infos`, else `answers`. Other columns are ignored.

        Returns:
            The metric's sentence scores, clipped; for an empty batch `[]`.

        Raises:
            TypeError: If a column has the wrong type or is missing, or a keyword is unknown.
            ValueError: If a prompt lacks the prefix or the suffix, or columns do not fit together.
        """
        texts = {"prompts": prompts, "completions": completions}
        parts = self.components(sources, predictions, references, **texts, **columns)
        self._log(parts, columns)
        with once(self._warned):
            self._warn_of_gaming(parts["guard"])
        return parts["reward"]

    def components(
        self,
        sources: Sequence[str] | None = None,
        predictions: Sequence[str] | None = None,
        references: Sequence[Any] | None = None,
        *,
        prompts: Sequence[Any] | None = None,
        completions: Sequence[Any] | None = None,
        **columns: Any,
    ) -> dict[str, Any]:
        """The rewards and what they are made of; arguments as of a call.

        Returns:
            One value per correction: `reward`; `quality`, the score without the guard; `guard`, what the guard takes
            from it, at most 0; `reason`, in words, `""` where it takes nothing.
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
            return {name: [] for name in ("reward", "quality", "guard", "reason")}
        if not self._scorer.needs_references():
            references = None
        elif references is None and "answers" in columns:  # as verifiers has them
            rows = zip(columns["answers"], columns["infos"], strict=True)
            references = [info.get("references") or [answer] for answer, info in rows]
        with once(self._warned):
            result = self._scorer.score(list(sources), list(predictions), references)
        quality = result.details.get("unguarded_scores", result.scores)
        return {
            "reward": np.clip(result.scores, *self._range).tolist(),
            "quality": quality,
            "guard": (np.array(result.scores) - quality).tolist(),
            "reason": result.details.get("guard_reasons", [""] * len(quality)),
        }

    def _log(self, parts: Mapping[str, Any], columns: Mapping[str, Any]) -> None:
        """Hand the components to the functions that TRL passes for it."""
        log_metric, log_extra = columns.get("log_metric"), columns.get("log_extra")
        for name in ("quality", "guard"):
            if callable(log_metric) and parts[name]:
                log_metric(f"{self.__name__}/{name}", float(np.nanmean(parts[name])))
        if callable(log_extra):
            log_extra(f"{self.__name__}/reason", parts["reason"])

    def _warn_of_gaming(self, guard: Sequence[float]) -> None:
        """Warn once if more of the latest completions are penalised than of the first."""
        penalised = [value < 0 for value in guard]
        self._first += penalised[: WINDOW - len(self._first)]
        self._latest.extend(penalised)
        if len(self._first) < WINDOW:
            return
        before, now = np.mean(self._first), np.mean(self._latest)
        if now - before >= WARN_AT_RISE:
            logger.warning(
                "%s: the guard penalises %.0f %% of the latest %d completions and %.0f %% of the first %d; the policy "
                "may be gaming the reward: read the reasons in `components`, and validate with references",
                *(self.__name__, 100 * now, WINDOW, 100 * before, WINDOW),
            )


def _checked(clip: tuple[float, float] | None) -> tuple[float, float] | None:
    """The lowest and the highest reward that a caller asked for."""
    if clip is None:
        return None
    numbers = isinstance(clip, (tuple, list)) and len(clip) == 2 and all(isinstance(end, (int, float)) for end in clip)
    if not numbers or not clip[0] < clip[1]:
        raise InputError(f"reward: clip must be a lower and a higher number, got {clip!r}")
    return float(clip[0]), float(clip[1])


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
    if isinstance(row, Sequence) and all(hasattr(message, "get") for message in row):  # those of verifiers are no dicts
        said = [message.get("content") for message in row if role in (None, message.get("role"))]
        if said and isinstance(said[-1], str):
            return said[-1]
    raise InputTypeError(f"{row_name} must be a text or a list of messages with texts, got {row!r:.80}")
