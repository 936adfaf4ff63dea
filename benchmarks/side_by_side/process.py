"""Both ends of a pipe: a benchmark asks, and a process with an environment of its own scores and says how long it took.

Questions and answers are lines of JSON. This module needs only the standard library, because peers import it too.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TextIO

HERE = Path(__file__).resolve().parents[1]


class Failed(RuntimeError):
    """A comparison that cannot be made; the message says why."""


class Contestant(Protocol):
    """One metric of one library, its models loaded."""

    def score(self, columns: Mapping[str, Any]) -> list[float]:
        """The corpus score of each system.

        Args:
            columns: `sources` [sentences], `systems` [systems][sentences], `references` [sentences][references],
                `gold_m2`, a file or `None`, and `predictions_m2`, a file for each system or none at all.
        """

    def forget(self) -> None:
        """Drop all that was remembered of earlier calls, but no model, and end worker processes."""


class Side:
    """A process that runs a module of this folder and answers questions.

    Args:
        name: What to call it in messages.
        command: An interpreter and its arguments; the module must call `serve`.
        question: The first question, which says what to load; its answer is kept as `ready`.
    """

    def __init__(self, name: str, command: Sequence[str], question: object) -> None:
        self.name = name
        environment = {key: value for key, value in os.environ.items() if key != "GECEVAL_CACHE"}
        environment |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
        self._process = subprocess.Popen(
            command, cwd=HERE, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.ready = self.ask(question)

    def ask(self, question: object) -> Any:
        """Send one question and wait for its answer.

        Raises:
            Failed: If the process has ended; its own message stands on standard error.
        """
        with contextlib.suppress(BrokenPipeError):  # then there is no answer either
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise Failed(f"{self.name} ended with code {self._process.wait()}; see its message above")
        return json.loads(answer)

    def __enter__(self) -> Side:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()


def serve(load: Callable[[Mapping[str, Any]], Contestant]) -> None:
    """Answer questions until there are no more: the first is for `load`, each other a part of a work to score.

    A question is `{"work": PATH, "systems": N, "sentences": N}`, where the numbers may be left out; its answer has the
    `scores` of the systems, `wall` and `processor` seconds (all processes), and `peak` memory so far in MiB.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    contestant = load(json.loads(sys.stdin.readline()))
    _answer(answers, {"ready": True, "versions": getattr(contestant, "versions", {})})
    for line in sys.stdin:
        question = json.loads(line)
        _answer(answers, measure(contestant, read_part(question)))


def read_part(question: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that a question names, cut to its numbers of systems and sentences."""
    columns = json.loads(Path(question["work"]).read_text(encoding="utf-8"))
    systems, size = question.get("systems"), question.get("sentences")
    whole = size is None or size >= len(columns["sources"])
    return {
        "sources": columns["sources"][:size],
        "systems": [system[:size] for system in columns["systems"][:systems]],
        "references": columns["references"][:size],
        "gold_m2": columns["gold_m2"] if whole else None,
        "predictions_m2": columns["predictions_m2"][:systems] if whole else [],
    }


def measure(contestant: Contestant, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Score once, nothing remembered from before, and say what it took."""
    gc.collect()
    start, used = time.perf_counter(), processor_seconds()
    scores = contestant.score(columns)
    wall = time.perf_counter() - start
    contestant.forget()  # also ends worker processes, whose time is known only then
    return {"scores": scores, "wall": wall, "processor": processor_seconds() - used, "peak": peak_memory(contestant)}


def processor_seconds() -> float:
    """Processor time of this process and of those it has started and that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def peak_memory(contestant: Contestant) -> float:
    """Peak resident memory in MiB; each worker process counts as much as the largest of them, shared pages too."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    workers = getattr(contestant, "workers", 1)
    children = workers * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss if workers > 1 else 0
    return (own_peak() + children) / unit


def own_peak() -> int:
    """Peak resident memory of this process in the unit of `ru_maxrss`, which on Linux has that of its parent too."""
    if sys.platform != "linux":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def _answer(stream: TextIO, answer: object) -> None:
    print(json.dumps(answer), file=stream, flush=True)
