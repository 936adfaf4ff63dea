"""A language model as judge (Kobayashi et al., 2024): grades from 1 to 5 for whole corrections or for their edits."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from geceval.core.errors import InputError, InputTypeError, counted, named
from geceval.core.inputs import Columns, check_columns
from geceval.core.progress import counting
from geceval.core.result import Result
from geceval.core.signature import package_version, signature
from geceval.models.devices import network_facts
from geceval.scorers.base import Scorer
from geceval.scorers.judge import prompts
from geceval.scorers.judge.cache import AnswerCache
from geceval.scorers.judge.prompts import Question
from geceval.scorers.judge.session import JudgeSession, Usage, Verdict
from geceval.scorers.judge.settings import JudgeRunTime, Settings
from geceval.scorers.references.gold import errant_annotator

if TYPE_CHECKING:
    from geceval.edits.errant.annotator import Annotator
    from geceval.models.chat.base import ChatModel, Messages

logger = logging.getLogger("geceval")


class LlmJudge(Scorer):
    """Grades by a language model: 1 to 5 per sentence; the corpus score is the mean over the graded sentences.

    The score is the mean of the grades, 1.0 to 5.0; with `on_failure="skip"`, the score of a sentence without a
    valid grade is NaN. The details say which rows those are and why, and what the call used: requests, tokens, costs.

    Args:
        settings: What can change a grade.
        runtime: How the grades are fetched.
        sleep: Waits for the given number of seconds between two attempts; `None` for a real wait.
    """

    name = "llm_judge"
    description = "Grades from 1 to 5 by a large language model, for whole corrections or for their edits."
    extra = "llm"
    Settings = Settings
    RunTime = JudgeRunTime
    bounds = (1.0, 5.0)
    reads_references = False

    def __init__(
        self,
        settings: Settings | None = None,
        runtime: JudgeRunTime | None = None,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        super().__init__(settings, runtime)
        self._sleep = sleep
        self._chat: ChatModel | None = None
        self._verdicts: dict[Question, Verdict] | None = None  # remembered between calls by `with_systems` only

    def scores_sentences_alone(self) -> bool:
        """False if `systems` holds outputs of other systems for the whole corpus, as they share the prompts."""
        return self.settings.systems is None

    def load(self) -> None:
        """Make the client of the endpoint, which asks nothing yet, or load the model; and the pipeline for edits."""
        if self._chat is None:
            with named(self.name):
                self._chat = self._make_chat()
        self._annotator()

    def _make_chat(self) -> ChatModel:
        settings, runtime = self.settings, self.runtime
        if settings.model is None:
            raise InputError("no model is bundled; pass model=NAME of a model at an endpoint")
        if settings.backend == "transformers":
            from geceval.models.chat.local import LocalModel

            by_schema = settings.response_format == "json_schema"
            return LocalModel(settings.model, runtime, settings.max_tokens, by_schema)
        from geceval.models.chat.endpoint import EndpointModel

        decoding = {name: getattr(settings, name) for name in ("temperature", "seed", "max_tokens")}
        address = settings.base_url, runtime.api_key_env
        return EndpointModel(settings.model, *address, decoding, settings.response_format, runtime.timeout)

    def with_systems(self, systems: Sequence[Sequence[str]]) -> LlmJudge:
        """A judge that shows the systems' outputs of one sentence in one prompt."""
        # It remembers the outcome of each prompt, failures included, so that all systems lack the same grades. With
        # `systems` in the settings, or fewer than two systems, nothing changes.
        if self.settings.systems is not None or len(systems) < 2:
            return self
        settings = dataclasses.replace(self.settings, systems=[list(predictions) for predictions in systems])
        judge = LlmJudge(settings, self.runtime, self._sleep)
        judge._chat, judge._verdicts = self._chat, {}
        return judge

    def prompts(self, sources: Sequence[str], predictions: Sequence[str]) -> list[Messages]:
        """The chats that `score` would send, one per distinct prompt; nothing is sent."""
        columns = self._check(sources, predictions, None)
        return self._chats(list(dict.fromkeys(self._questions(columns))))

    def _score(self, columns: Columns) -> Result:
        questions = self._questions(columns)
        cache = AnswerCache(self.runtime.cache)
        self.load()
        verdicts, usage = self._ask(list(dict.fromkeys(questions)), cache)
        pairs = zip(questions, columns.predictions, strict=True)
        scores = [_grade(verdicts.get(question), question, output) for question, output in pairs]
        failed = [row for row, value in enumerate(scores) if math.isnan(value)]
        if failed:
            self._report(failed, [verdicts.get(questions[row]) for row in failed], len(scores))
        kinds = Counter(verdicts[questions[row]].failure for row in failed)
        details = {
            "judged": len(scores) - len(failed),
            "failed": len(failed),
            "failed_rows": failed,
            "failures": dict(sorted(kinds.items())),
            **self._spent(usage),
        }
        return Result(float(self.aggregate(np.array(scores))), scores, self._signature(), details)

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

    def _ask(self, questions: list[Question], cache: AnswerCache) -> tuple[dict[Question, Verdict], Usage]:
        known = {} if self._verdicts is None else self._verdicts
        missing = [question for question in questions if question not in known]
        runtime = self.runtime
        stop = self.settings.on_failure == "raise"
        client = JudgeSession(self._chat, cache, runtime.retries, runtime.concurrency, stop, self._sleep)
        chats = [(messages, question.ids) for messages, question in zip(self._chats(missing), missing, strict=True)]
        with named(self.name), counting("judging", len(missing), runtime.progress) as advance:
            verdicts, usage = client.ask_all(chats, advance)
        found = {question: verdict for question, verdict in zip(missing, verdicts, strict=True) if verdict}
        known.update(found)
        return known, usage

    def _report(self, failed: list[int], verdicts: list[Verdict | None], rows: int) -> None:
        """Raise or warn because of rows without a grade; those not even asked are `None`."""
        row, verdict = next((row, v) for row, v in zip(failed, verdicts, strict=True) if v is not None)
        what = f"predictions[{row}] got no valid grade: {verdict.failure} ({verdict.reason})"
        if self.settings.on_failure == "raise":
            cached = "are in the cache" if self.runtime.cache is not None else "are lost without cache=FOLDER"
            raise InputError(
                f"{self.name}: {what}. Answers that came before {cached}; on_failure='skip' leaves such sentences out"
            )
        logger.warning("%s: no score for %d of %s; %s", self.name, len(failed), counted(rows, "sentence"), what)

    def _spent(self, usage: Usage) -> dict[str, Any]:
        prices = self.runtime.price_per_million
        tokens = (usage.prompt_tokens, usage.completion_tokens)
        cost = sum(count * price for count, price in zip(tokens, prices, strict=True)) / 1e6 if prices else None
        counts = {field.name: getattr(usage, field.name) for field in dataclasses.fields(usage)}
        return {**counts, "errors": dict(sorted(usage.errors.items())), "cost": cost}

    def _signature(self) -> str:
        settings = self.settings
        facts: dict[str, Any] = {"model": self._chat.name, "systems": _systems_fact(settings.systems)}
        if settings.backend == "endpoint":
            facts["base_url"] = self._chat.base_url
        else:
            facts |= network_facts(self.runtime)
        annotator = self._annotator()
        if annotator is not None:
            facts |= {"nlp": annotator.pipeline, "errant": package_version("errant")}
        return signature(self.name, settings, **facts, prompt=prompts.version(settings.level, settings.criterion))

    def _annotator(self) -> Annotator | None:
        return errant_annotator(self.settings.nlp) if self.settings.level == "edit" else None


def _grade(verdict: Verdict | None, question: Question, output: str) -> float:
    if verdict is None or verdict.grades is None:
        return float("nan")
    return float(verdict.grades[question.outputs.index(output)])


def _systems_fact(systems: Sequence[Sequence[str]] | None) -> str | None:
    """How many systems share prompts and a hash of their outputs, whatever their order."""
    if systems is None:
        return None
    digests = sorted(hashlib.sha256(json.dumps(list(outputs)).encode()).hexdigest() for outputs in systems)
    return f"{len(digests)}@{hashlib.sha256(''.join(digests).encode()).hexdigest()[:7]}"
