"""A language model as judge (Kobayashi et al., 2024): grades from 1 to 5 for whole corrections or for their edits."""

import dataclasses
import hashlib
import json
import logging
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from geceval.core.disk_cache import DiskCache
from geceval.core.errors import InputError, InputTypeError, counted, named
from geceval.core.inputs import Columns, check_columns
from geceval.core.options import PipelineName, Positive, Range, RunTime, Seed
from geceval.core.progress import counting
from geceval.core.result import Result
from geceval.core.signature import package_version, signature
from geceval.edits.errant.annotator import get_annotator
from geceval.edits.errant.base import Annotator
from geceval.models.chat import EndpointModel, LocalModel, Messages, check_key_name, check_url
from geceval.models.devices import network_facts
from geceval.scorers.base import Scorer
from geceval.scorers.judge import prompts
from geceval.scorers.judge.prompts import Question
from geceval.scorers.judge.session import Grades, Verdict, answer_cache, ask_all
from geceval.scorers.learned.guard import Effect
from geceval.scorers.learned.guarded import GuardedOptions, GuardedScorer

logger = logging.getLogger("geceval")


@dataclass(frozen=True, slots=True)
class Settings(GuardedOptions):
    """Settings of the judge; each can change the score.

    Attributes:
        model: Name of the model at the endpoint; with `backend="transformers"` a name that `geceval models` lists, a
            folder, or a Hub id, optionally with `@revision`. There is no default: pass one.
        backend: `"endpoint"` (OpenAI-compatible, over HTTP, with structured output), or `"transformers"`, a causal
            language model in this process, which is given the form of the answer and takes the most probable grades.
        base_url: Address of the endpoint; `None` takes `OPENAI_BASE_URL`, else OpenAI's own.
        level: `"sentence"` shows the model whole outputs, `"edit"` also shows what each of them changed (ERRANT edits).
        criterion: What is graded: `"none"` (the correction as a whole), `"grammaticality"`, `"fluency"`, `"meaning"`.
        temperature: Sent to the endpoint, in [0, 2]; `None` leaves it out, for models that refuse it.
        seed: Sent to the endpoint; `None` leaves it out.
        on_failure: What happens if a sentence gets no valid grade: `"raise"`, or `"skip"`: its score is NaN, and the
            corpus score is the mean of the others.
        systems: Predictions of systems that are graded together, one list per system: the distinct outputs of a
            sentence share prompts, up to five in each.
    """

    model: str | None = None
    backend: Literal["endpoint", "transformers"] = "endpoint"
    base_url: str | None = None
    level: prompts.Level = "sentence"
    criterion: prompts.Criterion = "none"
    temperature: Annotated[float, Range(0, 2)] | None = 0.0
    seed: Seed | None = 0
    on_failure: Literal["raise", "skip"] = "raise"
    systems: Sequence[Sequence[str]] | None = None
    nlp: PipelineName = "bundled"

    def __post_init__(self) -> None:
        super(Settings, self).__post_init__()
        if self.base_url is not None:
            check_url(self.base_url)
        if self.backend == "transformers" and (self.temperature or self.base_url is not None):
            raise InputError(
                "backend 'transformers' has no base_url and takes the most probable grade: leave temperature at 0"
            )


@dataclass(frozen=True, slots=True)
class JudgeRunTime(RunTime):
    """Run-time options of the judge, which say how grades are fetched, beside those of every metric.

    Attributes:
        api_key_env: Name of the environment variable with the key of the endpoint; `None` if it needs none.
        concurrency: Questions that are asked at the same time.
        retries: How often the client asks again after a broken connection, 408, 409, 429 or 5xx.
        timeout: Seconds to wait for the next bytes from the endpoint.
        cache: A folder that also caches all valid grades, so that no question is paid for twice. It never holds the
            key, but it does hold the grades in clear text.
    """

    api_key_env: str | None = "OPENAI_API_KEY"
    concurrency: Annotated[int, Range(1, 256)] = 4
    retries: Annotated[int, Range(0, 20)] = 4
    timeout: Positive = 60.0

    def __post_init__(self) -> None:
        super(JudgeRunTime, self).__post_init__()
        check_key_name(self.api_key_env)


class LlmJudge(GuardedScorer):
    """Grades by a language model, 1 to 5 per sentence; the corpus score is the mean over the graded sentences."""

    name = "llm_judge"
    description = "Grades from 1 to 5 by a large language model, for whole corrections or for their edits."
    extra = "llm"
    Settings = Settings
    form = "prose"
    RunTime = JudgeRunTime
    bounds = (1.0, 5.0)
    effect = Effect(unit=1 / 3, lowest=1.0)

    _chat: EndpointModel | LocalModel | None = None
    _verdicts: dict[Question, Verdict] | None = None  # remembered between calls by `with_systems` only

    def scores_sentences_alone(self) -> bool:
        """False if `systems` holds outputs of other systems for the whole corpus, as they share the prompts."""
        return self.settings.systems is None

    def _load(self) -> None:
        settings, runtime = self.settings, self.runtime
        if settings.model is None:
            raise InputError("no model is bundled; pass model=NAME of a model at an endpoint")
        self._annotator()
        if self._chat is not None:
            return
        if settings.backend == "transformers":
            self._chat = LocalModel(settings.model, runtime)
        else:
            address = settings.base_url, runtime.api_key_env
            decoding = {"temperature": settings.temperature, "seed": settings.seed}
            self._chat = EndpointModel(settings.model, *address, runtime.retries, runtime.timeout, **decoding)

    def with_systems(self, systems: Sequence[Sequence[str]]) -> Scorer:
        """A judge that shows the systems' outputs of one sentence in one prompt."""
        # It remembers the outcome of each prompt, failures included, so that all systems lack the same grades. With
        # `systems` in the settings, or fewer than two systems, nothing changes.
        if self.settings.systems is not None or len(systems) < 2:
            return self
        settings = dataclasses.replace(self.settings, systems=[list(predictions) for predictions in systems])
        judge = LlmJudge(settings, self.runtime)
        judge._chat, judge._verdicts = self._chat, {}
        return judge

    def prompts(self, sources: Sequence[str], predictions: Sequence[str]) -> list[Messages]:
        """The chats that `score` would send, one per distinct prompt; nothing is sent."""
        columns = self._check(sources, predictions, None)
        return self._chats(list(dict.fromkeys(self._questions(columns))))

    def _score(self, columns: Columns) -> Result:
        columns = self._as_read(columns)
        questions = self._questions(columns)
        cache = answer_cache(self.runtime.cache)
        known = {} if self._verdicts is None else self._verdicts
        asked = self._ask([question for question in dict.fromkeys(questions) if question not in known], cache)
        known |= asked
        pairs = zip(questions, columns.predictions, strict=True)
        scores = [_grade(known.get(question), question, output) for question, output in pairs]
        failed = {row: known.get(questions[row]) for row, value in enumerate(scores) if math.isnan(value)}
        if failed:
            self._report(failed, len(scores))
        details = {
            "judged": len(scores) - len(failed),
            "failed": len(failed),
            "failed_rows": list(failed),
            "failures": dict(sorted(Counter(verdict.failure for verdict in failed.values()).items())),
            "calls": sum(not verdict.cached for verdict in asked.values()),
            "cached": sum(verdict.cached for verdict in asked.values()),
            "prompt_tokens": sum(verdict.prompt_tokens for verdict in asked.values()),
            "completion_tokens": sum(verdict.completion_tokens for verdict in asked.values()),
        }
        return self._result(columns, np.array(scores), self._signature(), details)

    def aggregate(self, rows: np.ndarray) -> np.ndarray:
        """Means over the sentences that have a grade: `[...][sentences]` to `[...]`; NaN where none has one."""
        valid = ~np.isnan(rows)
        counts = valid.sum(axis=-1)
        sums = np.where(valid, rows, 0.0).sum(axis=-1)
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)

    def _questions(self, columns: Columns) -> list[Question]:
        """The question that grades each row's prediction."""
        systems = self.settings.systems or []
        if isinstance(systems, str) or any(isinstance(predictions, str) for predictions in systems):
            raise InputTypeError(f"{self.name}: systems must be a list with one list of predictions per system")
        for predictions in systems:
            check_columns(self.name, columns.sources, predictions, warn=False)
        rows = []
        for row, (source, output) in enumerate(zip(columns.sources, columns.predictions, strict=True)):
            outputs = [output, *(predictions[row] for predictions in systems)]
            (question,) = (each for each in prompts.questions(source, outputs) if output in each.outputs)
            rows.append(question)
        return rows

    def _chats(self, questions: Sequence[Question]) -> list[Messages]:
        settings = self.settings
        annotator = self._annotator()
        if annotator is None:
            return [prompts.messages(question, settings.level, settings.criterion) for question in questions]
        pairs = [(question.source, output) for question in questions for output in question.outputs]
        edits = iter(annotator.edits(pairs, self.runtime.workers, self.runtime.progress, self.runtime.cache))
        return [
            prompts.messages(question, settings.level, settings.criterion, [next(edits) for _ in question.outputs])
            for question in questions
        ]

    def _ask(self, questions: list[Question], cache: DiskCache[str, Grades]) -> dict[Question, Verdict]:
        """The verdict on each question that was asked."""
        stop = self.settings.on_failure == "raise"
        chats = [(messages, question.ids) for messages, question in zip(self._chats(questions), questions, strict=True)]
        with named(self.name), counting("judging", len(questions), self.runtime.progress) as advance:
            verdicts = ask_all(self._chat, chats, cache, self.runtime.concurrency, stop, advance)
        return {question: verdict for question, verdict in zip(questions, verdicts, strict=True) if verdict}

    def _report(self, failed: dict[int, Verdict | None], rows: int) -> None:
        """Raise or warn because of rows without a grade; those not even asked have `None`."""
        row, verdict = next((row, verdict) for row, verdict in failed.items() if verdict is not None)
        what = f"predictions[{row}] got no valid grade: {verdict.failure} ({verdict.reason})"
        if self.settings.on_failure == "raise":
            cached = "are in the cache" if self.runtime.cache is not None else "are lost without cache=FOLDER"
            raise InputError(
                f"{self.name}: {what}. Answers that came before {cached}; on_failure='skip' leaves such sentences out"
            )
        logger.warning("%s: no score for %d of %s; %s", self.name, len(failed), counted(rows, "sentence"), what)

    def _signature(self) -> str:
        settings = self.settings
        facts: dict[str, Any] = {"model": self._chat.name, "systems": _systems_fact(settings.systems)}
        facts["guard"] = self._guard_facts()
        if settings.backend == "endpoint":
            facts["base_url"] = self._chat.base_url
        else:
            facts |= network_facts(self.runtime)
        annotator = self._annotator()
        if annotator is not None:
            facts |= {"nlp": annotator.pipeline, "errant": package_version("errant")}
        return signature(self.name, settings, **facts, prompt=prompts.version(settings.level, settings.criterion))

    def _annotator(self) -> Annotator | None:
        return get_annotator(self.settings.nlp) if self.settings.level == "edit" else None


def _grade(verdict: Verdict | None, question: Question, output: str) -> float:
    if verdict is None or verdict.grades is None:
        return float("nan")
    return float(verdict.grades[question.outputs.index(output)])


def _systems_fact(systems: Sequence[Sequence[str]] | None) -> str | None:
    """The number of systems that share prompts and a hash of their outputs, whatever their order."""
    if systems is None:
        return None
    digests = sorted(hashlib.sha256(json.dumps(list(outputs)).encode()).hexdigest() for outputs in systems)
    return f"{len(digests)}@{hashlib.sha256(''.join(digests).encode()).hexdigest()[:7]}"
