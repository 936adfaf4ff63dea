"""The example of a corrector that is trained with metrics of geceval: what it logs is what they say."""

import json
import re
from pathlib import Path

import pytest
import transformers

import geceval
import train_gec_example
from geceval.core.files import read_lines

PAIRS = {
    "the cat sit on the mat .": "the cat sat on the mat .",
    "a dogs runs .": "a dog runs .",
    "the dog like school .": "the dog likes school .",
    "a cat sleep .": "a cat sleeps .",
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Four sentences, eight times over, and each once with two references."""
    folder = tmp_path_factory.mktemp("corpus")
    columns = {"train.src": [*PAIRS] * 8, "train.trg": [*PAIRS.values()] * 8, "dev.src": [*PAIRS]}
    columns |= {"dev.ref0": [*PAIRS.values()], "dev.ref1": [text.replace("the", "this") for text in PAIRS.values()]}
    for name, lines in columns.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    train = ["--train", *(str(folder / f"train.{part}") for part in ("src", "trg"))]
    return [*train, "--dev", *(str(folder / f"dev.{part}") for part in ("src", "ref0", "ref1"))]


def test_the_logged_numbers_are_those_of_the_metrics(corpus, tmp_path, capsys):
    output = tmp_path / "corrector"
    quick = ["--epochs", "3", "--max-length", "16", "--lr", "1e-2"]
    assert train_gec_example.main(["--output", str(output), *quick, *corpus]) == 0
    results = json.loads((output / "results.json").read_text(encoding="utf-8"))
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == results["dev"]

    names = ("errant", "errant_precision", "errant_recall", "errant_f", "errant_tp", "errant_fp", "errant_fn", "impara")
    assert len(results["epochs"]) == 3
    for epoch in results["epochs"]:
        assert {f"eval_{name}" for name in names} <= epoch.keys()
    history = [epoch["eval_errant_f"] for epoch in results["epochs"]]
    assert len(set(history)) > 1  # it learns
    assert results["best"]["metric"] == "errant_f"
    assert results["best"]["value"] == max(history)
    chosen = results["epochs"][history.index(max(history))]
    assert results["best"]["step"] == chosen["step"]

    references = [list(row) for row in zip(*map(read_lines, corpus[-2:]), strict=True)]  # the files of references
    columns = {"sources": [*PAIRS], "predictions": read_lines(output / "corrections.txt")}
    errant = geceval.load("errant").compute(**columns, references=references)
    impara = geceval.load("impara").compute(**columns)
    expected = {"errant": errant["score"], "impara": impara["score"]}
    expected |= {f"errant_{name}": errant[name] for name in ("precision", "recall", "f", "tp", "fp", "fn")}
    for name in names:
        assert results["dev"][name] == pytest.approx(expected[name], abs=1e-6), name
        assert chosen[f"eval_{name}"] == pytest.approx(expected[name], abs=1e-6), name
    assert (output / "model.safetensors").is_file()


def test_the_snippet_of_the_docs_trains(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (Path(train_gec_example.__file__).parents[1] / "docs" / "training.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"<!-- trainer: .*? -->\n```py\n(.*?)```", page, flags=re.DOTALL)
    model, tokenizer = train_gec_example.tiny_t5([train_gec_example.PREFIX, *PAIRS, *PAIRS.values()])
    data = train_gec_example.encode(tokenizer, [*PAIRS], [*PAIRS.values()], 16)
    given = {"model": model, "tokenizer": tokenizer, "train_data": data, "eval_data": data}
    given |= {"geceval": geceval, "transformers": transformers, "references": [[text] for text in PAIRS.values()]}
    exec(compile(snippet, "training.md", "exec"), given)
    evaluations = [entry for entry in given["trainer"].state.log_history if "eval_errant_f" in entry]
    assert len(evaluations) == 3 and all("eval_impara" in entry for entry in evaluations)
