"""Options of the judge: settings, which can change a grade, and run-time options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from geceval.core.errors import InputError
from geceval.core.options import (
    PipelineName,
    RunTime,
    check_choice,
    check_count,
    check_moderate,
    check_positive,
    check_types,
)
from geceval.models.chat.endpoint import FORMATS, check_key_name, check_url
from geceval.scorers.judge.prompts import CRITERIA, LEVELS

BACKENDS = ("endpoint", "transformers")
ON_FAILURE = ("raise", "skip")


@dataclass(frozen=True, slots=True)
class Settings:
    """What can change a grade.

    Attributes:
        model: Name of the model at the endpoint; with `backend="transformers"` a name that `geceval models` lists, a
            folder, or a Hub id, optionally with `@revision`. There is no default: pass one.
        backend: `"endpoint"` (OpenAI-compatible, over HTTP), or `"transformers"`, a causal language model in this
            process that always takes the most probable token.
        base_url: Address of the endpoint; `None` takes `OPENAI_BASE_URL`, else OpenAI's own.
        level: `"sentence"` shows the model whole outputs, `"edit"` also shows what each of them changed (ERRANT edits).
        criterion: What is graded: `"none"` (the correction as a whole), `"grammaticality"`, `"fluency"`, `"meaning"`.
        temperature: Sent to the endpoint; `None` leaves it out, for models that refuse it.
        seed: Sent to the endpoint; `None` leaves it out.
        max_tokens: The longest answer, in tokens; `None` leaves it out.
        response_format: How the endpoint is made to answer in JSON: `"json_object"`, `"json_schema"`, or `"text"` (not
            at all). With `backend="transformers"`, `"json_schema"` gives the model the form of the answer, so that it
            only chooses the grades; else it writes all of it.
        on_failure: What happens if a sentence gets no valid grade: `"raise"`, or `"skip"`: its score is NaN, and the
            corpus score is the mean of the others.
        systems: Predictions of systems that are graded together, one list per system: the distinct outputs of a
            sentence share prompts, up to five in each.
        nlp: The spaCy pipeline behind ERRANT (level `"edit"`), see `geceval.edits.errant.annotator.get_annotator`.
    """

    model: str | None = None
    backend: str = "endpoint"
    base_url: str | None = None
    level: str = "sentence"
    criterion: str = "none"
    temperature: float | None = 0.0
    seed: int | None = 0
    max_tokens: int | None = 256
    response_format: str = "json_object"
    on_failure: str = "raise"
    systems: Sequence[Sequence[str]] | None = None
    nlp: PipelineName = "bundled"

    def __post_init__(self) -> None:
        check_types(self)
        check_choice("backend", self.backend, BACKENDS)
        check_choice("level", self.level, LEVELS)
        check_choice("criterion", self.criterion, CRITERIA)
        check_choice("response_format", self.response_format, FORMATS)
        check_choice("on_failure", self.on_failure, ON_FAILURE)
        if self.base_url is not None:
            check_url(self.base_url)
        if self.temperature is not None:
            check_moderate("temperature", self.temperature)
            if self.temperature < 0:
                raise InputError(f"temperature must not be negative, got {self.temperature!r}")
        if self.seed is not None:
            check_count("seed", self.seed, least=0)
        if self.max_tokens is not None:
            check_count("max_tokens", self.max_tokens)
        if self.backend == "transformers":
            self._check_local()

    def _check_local(self) -> None:
        if self.temperature not in (None, 0):
            raise InputError("backend 'transformers' always takes the most probable token; leave temperature at 0")
        if self.max_tokens is None:
            raise InputError("backend 'transformers' needs max_tokens, the length of the longest answer")
        if self.base_url is not None:
            raise InputError("base_url is the address of an endpoint; backend 'transformers' has none")


@dataclass(frozen=True, slots=True)
class JudgeRunTime(RunTime):
    """How the grades are fetched: run-time options in addition to those of every metric.

    Attributes:
        api_key_env: Name of the environment variable with the key of the endpoint; `None` if it needs none.
        concurrency: Requests in flight at once.
        retries: How often a question is asked again after a failure or an invalid answer, with pauses of 1, 2, 4, ...
            seconds, or as long as the endpoint says.
        timeout: Seconds to wait for the next bytes from the endpoint.
        cache: A folder that also caches all valid answers, so that no question is paid for twice. It never holds the
            key, but it does hold the answers in clear text.
        price_per_million: What a million tokens cost, read and written, in any currency.
    """

    api_key_env: str | None = "OPENAI_API_KEY"
    concurrency: int = 4
    retries: int = 4
    timeout: float = 60.0
    price_per_million: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        RunTime.__post_init__(self)  # super() does not know a class with slots
        check_key_name(self.api_key_env)
        check_count("concurrency", self.concurrency, most=256)
        check_count("retries", self.retries, least=0, most=20)
        check_positive("timeout", self.timeout)
        if self.price_per_million is not None:
            self._check_prices()

    def _check_prices(self) -> None:
        prices = self.price_per_million
        if len(prices) != 2:
            raise InputError("price_per_million must be two numbers: for tokens read and for tokens written")
        for price in prices:
            if not 0 <= price < float("inf"):
                raise InputError(f"price_per_million must not be negative, got {price!r}")
