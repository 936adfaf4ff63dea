"""Test sets as tasks of lm-evaluation-harness: the files to write, and the functions that they name."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from geceval.core.files import write_text
from geceval.corpora.test_sets import entry
from geceval.edits.m2 import read_m2, write_m2
from geceval.version import __version__
from geceval.workflows.test_sets import test_set

# What two papers ask of a language model, in words of our own: as few edits as possible (Davis et al., 2024), as the
# gold edits of learners' texts are; and text that also reads well (Coyne et al., 2023), as JFLEG's references do.
MINIMAL = (
    "Correct the grammar, spelling and punctuation of this sentence of a language learner. Change as little as "
    "possible and keep what it means. Reply with the sentence only, unchanged if it has no error."
)
FLUENT = (
    "Rewrite this sentence of a language learner so that it is free of errors and reads as if a native speaker had "
    "written it. Keep what it means. Reply with the sentence only, unchanged if nothing can be improved."
)
TASKS = {"jfleg-test": FLUENT, "conll14": MINIMAL, "bea19-dev": MINIMAL, "fce-test": MINIMAL}


def write_tasks(folder: str | Path) -> list[Path]:
    """Write one YAML file a task and the `utils.py` that they share; what is there is overwritten."""
    # What is inserted is no HTML.
    environment = Environment(  # noqa: S701
        loader=PackageLoader("geceval.workflows"), undefined=StrictUndefined, keep_trailing_newline=True
    )
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = {"utils.py": environment.get_template("lm_eval_utils.py.jinja").render()}
    for name, prompt in TASKS.items():
        values = {"name": name, "about": entry(name), "prompt": prompt, "version": __version__}
        files[f"gec_{name.replace('-', '_')}.yaml"] = environment.get_template("lm_eval_task.yaml.jinja").render(values)
    for name, text in files.items():
        write_text(folder / name, text)
    return [folder / name for name in files]


def documents(test_set_name: str, **_: Any) -> dict[str, Any]:
    """The data set of a task: an `index` into the test set, and the `source`."""
    import datasets

    sources = test_set(test_set_name).sources
    columns = {"test_set": [test_set_name] * len(sources), "index": list(range(len(sources))), "source": sources}
    return {"test": datasets.Dataset.from_dict(columns)}


def process_results(document: Mapping[str, Any], answers: Sequence[str]) -> dict[str, list[Any]]:
    """What a task keeps of an answer until all are there."""
    name = document["test_set"]
    return {entry(name).metric: [name, document["index"], answers[0]]}


def corpus_score(rows: Sequence[Sequence[Any]]) -> float:
    """The score that papers report, of all sentences or, with `--limit`, of those that were answered."""
    whole = test_set(rows[0][0])
    indices = [index for _, index, _ in rows]
    part = replace(
        whole, sources=[whole.sources[i] for i in indices], references=[whole.references[i] for i in indices]
    )
    with tempfile.TemporaryDirectory() as folder:
        if whole.gold_m2 and indices != list(range(len(whole.sources))):
            gold = read_m2(whole.gold_m2)
            part = replace(part, gold_m2=Path(folder) / "part.m2")
            write_m2(part.gold_m2, [gold[i] for i in indices])
        return part.score([answer for *_, answer in rows], text="answers").score
