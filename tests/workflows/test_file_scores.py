"""Scoring in parts: the numbers of the whole, resumed wherever it was broken off; and scores as a column."""

import json
import pickle
import re
import shutil
from pathlib import Path

import datasets
import numpy as np
import pyarrow
import pyarrow.parquet as parquet
import pytest

from geceval import registry
from geceval.cli.app import run as run_command
from geceval.core.disk_cache import FILE
from geceval.edits.errant.pipeline import BUNDLED
from geceval.models.origins.named import NAMED_MODELS
from geceval.workflows.batches import BatchScorer, absolute_paths, part_scorer
from geceval.workflows.file_scores import MANIFEST, make_run, score_part

WORDS = ["the", "a", "cat", "cats", "sat", "on", "mat", "dogs", "run", "runs", "school"]
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")


def corpus(rows, seed=0, most=3):
    """Sentences with one to `most` references, an id each."""
    draw = np.random.default_rng(seed)

    def changed(words):
        return " ".join(word if draw.random() < 0.8 else str(draw.choice(WORDS)) for word in words)

    table = {"id": list(range(rows)), "sources": [], "predictions": [], "references": []}
    for _ in range(rows):
        words = [str(word) for word in draw.choice(WORDS, draw.integers(3, 9))]
        table["sources"].append(" ".join(words))
        table["predictions"].append(changed(words))
        table["references"].append([changed(words) for _ in range(draw.integers(1, most + 1))])
    return table


@pytest.fixture
def files(tmp_path):
    """Six parquet files, one of them without rows, and the whole table."""
    whole = corpus(100)
    folder = tmp_path / "input"
    folder.mkdir()
    for name, start, stop in (("a", 0, 20), ("b", 20, 40), ("c", 40, 60), ("d", 60, 64), ("e", 64, 64), ("f", 64, 100)):
        part = pyarrow.table({column: values[start:stop] for column, values in whole.items()},
                             schema=pyarrow.table(whole).schema)  # fmt: skip
        parquet.write_table(part, folder / f"{name}.parquet", row_group_size=10)
    return folder, whole


def finish(run):
    for number in run.pending():
        score_part(run, run.parts[number], part_scorer(run.metric, run.options))
    return run


def written(run, column="score"):
    return [value for part in run.parts for value in parquet.read_table(part.scores)[column].to_pylist()]


IN_PARTS = [("gleu", {"iterations": 20}), ("errant", {"nlp": "bundled"})]
IN_PARTS += [(name, {}) for name in ("gleu", "green", "i_measure", "m2")]


@pytest.mark.parametrize(("metric", "options"), IN_PARTS)
def test_parts_give_the_numbers_of_the_whole(metric, options, files, tmp_path):
    folder, whole = files
    run = finish(make_run(folder, metric, tmp_path / "scores", options, keep=["id"]))
    assert [part.rows for part in run.parts] == [20, 20, 20, 4, 36]
    columns = {name: whole[name] for name in ("sources", "predictions", "references")}
    result = registry.make_scorer(metric, options).score(**columns)
    assert written(run, "id") == whole["id"]
    assert written(run) == result.scores
    assert run.corpus_score() == pytest.approx(result.score, abs=1e-12)


def test_a_large_file_is_divided(files, tmp_path, monkeypatch):
    """Into parts whose borders are not those of its row groups, of 10 rows."""
    folder, whole = files
    monkeypatch.setattr("geceval.workflows.file_scores.ROWS", 7)
    run = finish(make_run(folder, "gleu", tmp_path / "scores", {}, keep=["id"]))
    assert [part.rows for part in run.parts] == [7, 7, 6] * 3 + [4] + [7] * 5 + [1]
    result = registry.make_scorer("gleu").score(whole["sources"], whole["predictions"], whole["references"])
    assert (written(run, "id"), written(run)) == (whole["id"], result.scores)
    assert run.corpus_score() == pytest.approx(result.score, abs=1e-12)


def test_a_run_goes_on_where_it_was_broken_off(files, tmp_path):
    folder, _ = files
    arguments = (folder, "gleu", tmp_path / "scores", {})
    run = finish(make_run(*arguments))
    before = written(run)
    paths = [part.scores for part in run.parts]
    paths[0].unlink()
    paths[1].write_bytes(paths[1].read_bytes()[:-40])
    paths[2].write_bytes(paths[3].read_bytes())  # of a file of another size
    parquet.write_table(pyarrow.table({"score": [0.0] * 36}), paths[4])  # no mark
    again = make_run(*arguments)
    assert again == run
    assert again.pending() == [0, 1, 2, 4]
    with pytest.raises(ValueError, match="4 of 5 parts are not finished"):
        again.corpus_score()
    assert written(finish(again)) == before
    assert sorted(path.name for path in run.folder.iterdir()) == [MANIFEST, *(path.name for path in paths)]


def test_scores_of_another_run_are_not_taken(files, tmp_path):
    folder, whole = files
    output = tmp_path / "scores"
    finish(make_run(folder, "gleu", output, {}))
    for arguments in (("gleu", output, {"unit": "char"}), ("green", output, {})):
        with pytest.raises(ValueError, match="other input, settings or weights"):
            make_run(folder, *arguments)
    assert make_run(folder, "gleu", output, {"workers": 2}).pending() == []
    whole["sources"][3] += " ."
    parquet.write_table(pyarrow.table(whole), folder / "a.parquet")
    with pytest.raises(ValueError, match="other input, settings or weights"):
        make_run(folder, "gleu", output, {})


def test_scores_of_changed_text_of_the_same_size_are_not_taken(tmp_path):
    path = tmp_path / "a.parquet"
    texts = [["a b"], ["a c"], ["a d"]]
    for prediction in ("a c", "a d"):  # within the least and the greatest text of the file, and as long
        rows = {"sources": ["a b"] * 3, "predictions": ["a b", prediction, "a e"], "references": texts}
        parquet.write_table(pyarrow.table(rows), path, compression="none", use_dictionary=False)
        if prediction == "a c":
            finish(make_run(path, "gleu", tmp_path / "scores", {}))
    with pytest.raises(ValueError, match="other input, settings or weights"):
        make_run(path, "gleu", tmp_path / "scores", {})


def test_a_row_that_cannot_be_scored_is_named(files, tmp_path, monkeypatch):
    folder, whole = files
    monkeypatch.setattr("geceval.workflows.file_scores.ROWS", 50)
    whole["predictions"][70] = None
    parquet.write_table(pyarrow.table(whole), folder / "b.parquet")
    run = make_run([folder / "a.parquet", folder / "b.parquet"], "gleu", tmp_path / "scores", {})
    with pytest.raises(TypeError, match=r"b\.parquet, in the 50 rows from 50: gleu: predictions\[20\] must be"):
        finish(run)
    assert run.pending() == [2]
    names = sorted(path.name for path in run.folder.iterdir())
    assert names == [MANIFEST, "part-000000.parquet", "part-000001.parquet"]


def test_what_cannot_be_done_is_refused_before_any_work(files, tmp_path):
    folder, _ = files
    output = tmp_path / "scores"
    whole = [("errant", {"gold_m2": "gold.m2"}), ("errant", {"predictions_m2": "own.m2"}), ("gotoscorer", {})]
    for metric, options in (*whole, ("cleme", {}), ("llm_judge", {"systems": [["a"]]})):
        with pytest.raises(ValueError, match=f"{metric}: .* cannot be scored in parts"):
            make_run(folder, metric, output, options)
    for names, message in (
        ({"columns": {"references": "gold"}}, "gleu: the table has no column 'gold'; pass columns="),
        ({"columns": {"reference": "gold"}}, "columns: 'reference' is none of sources, predictions, references"),
        ({"keep": ["score"]}, "keep: the scores have a column 'score' of their own"),
        ({"keep": ["key"]}, "has no column 'key'"),
    ):
        with pytest.raises(ValueError, match=message):
            make_run(folder, "gleu", output, {}, **names)
    (folder / "g.parquet").write_text("id,source", encoding="utf-8")
    with pytest.raises(ValueError, match=r"g\.parquet: not a parquet file"):
        make_run(folder, "gleu", output, {})
    with pytest.raises(ValueError, match=r"no \*\.parquet"):
        make_run(tmp_path, "gleu", output, {})
    assert not output.exists()


def test_columns_of_one_name(tmp_path, make_causal):
    columns = ["sources", "predictions", "references", "references", "id", "id"]
    path = tmp_path / "twice.parquet"
    parquet.write_table(pyarrow.table([["a"]] * len(columns), names=columns), path)
    free = ("fluency", tmp_path / "scores", {"model": str(make_causal(0)), "guard": "off"})  # it reads no references
    with pytest.raises(ValueError, match="twice.parquet has two columns 'references'"):
        make_run(path, "gleu", tmp_path / "scores", {})
    with pytest.raises(ValueError, match="twice.parquet has two columns 'id'"):
        make_run(path, *free, keep=["id"])
    assert finish(make_run(path, *free)).pending() == []  # others may have one name


def test_scores_as_a_column_of_a_data_set():
    whole = corpus(30)
    table = datasets.Dataset.from_dict({"text": whole["sources"], **{k: v for k, v in whole.items() if k != "sources"}})
    scorer = BatchScorer("gleu", {"sources": "text"}, unit="char")
    scored = table.map(scorer, batched=True, batch_size=7)
    columns = whole["sources"], whole["predictions"], whole["references"]
    result = registry.make_scorer("gleu", {"unit": "char"}).score(*columns)
    assert scored["gleu"][:] == result.scores
    assert scored.column_names == ["text", "id", "predictions", "references", "gleu"]
    arrays = {name: np.array(table[name][:], dtype=object) for name in ("text", "predictions", "references")}
    assert pickle.loads(pickle.dumps(scorer))(arrays)["gleu"] == result.scores


def test_the_page_on_scale(tmp_path, monkeypatch, capsys):
    """Its code for `datasets` runs, here with a metric that loads no model."""
    code = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)[0]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    Path("corpus").mkdir()
    whole = corpus(12)
    parquet.write_table(pyarrow.table(whole), "corpus/0.parquet")
    exec(code.replace('"impara"', '"gleu"'), {})
    result = registry.make_scorer("gleu").score(whole["sources"], whole["predictions"], whole["references"])
    assert capsys.readouterr().out == f"{result.scores[:3]}\n"


def test_the_command_of_the_page(tmp_path, monkeypatch, capsys):
    (line,) = re.findall(r"```bash\n(.*?)\n```", PAGE, flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    for name, text in (("source", "He go ."), ("system", "He goes ."), ("reference", "He goes .")):
        Path(f"{name}.txt").write_text(f"{text}\n", encoding="utf-8")
    assert run_command(line.split()[1:]) == 0
    assert "system" in capsys.readouterr().out
    assert (tmp_path / "kept" / FILE).is_file()


def test_paths_hold_in_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("mine", "bundled"):
        Path(name).mkdir()
        Path(name, "config.json").touch()
    options = {"model": "mine", "se_model": "bundled", "cache": "new"}
    there = {**options, "model": str(tmp_path / "mine"), "cache": str(tmp_path / "new")}
    assert absolute_paths("impara", options) == there
    assert absolute_paths("errant", {"nlp": "mine"}) == {"nlp": str(tmp_path / "mine")}
    assert absolute_paths("m2", {"gold_m2": Path("gold.m2")}) == {"gold_m2": str(tmp_path / "gold.m2")}


def test_a_word_is_no_path_though_a_folder_has_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = {"average": "corpus", "counting": "gec-metrics", "device": "cpu"}
    for name in [*options.values(), "uniform"]:
        Path(name).mkdir()
    assert absolute_paths("errant", options) == options
    assert absolute_paths("gotoscorer", {"difficulty": "uniform"}) == {"difficulty": "uniform"}


def test_scores_of_replaced_weights_are_not_mixed(files, tmp_path, make_checkpoint):
    folder, _ = files
    model = tmp_path / "model"
    arguments = (folder, "bertscore", tmp_path / "scores", {"model": str(model), "layer": 1, "device": "cpu"})
    shutil.copytree(make_checkpoint(0), model)
    run = make_run(*arguments)
    score_part(run, run.parts[0], part_scorer(run.metric, run.options))
    assert make_run(*arguments).pending() == [1, 2, 3, 4]
    shutil.rmtree(model)
    shutil.copytree(make_checkpoint(1), model)
    with pytest.raises(ValueError, match="other input, settings or weights"):
        make_run(*arguments)


def test_a_folder_called_like_a_named_model_is_not_that_model(files, tmp_path, monkeypatch, smollm2):
    monkeypatch.chdir(tmp_path)
    Path(smollm2, "part").mkdir(parents=True)
    Path(smollm2, "part", "config.json").touch()
    run = make_run(files[0], "fluency", "scores", {"model": smollm2})
    loads = json.loads((run.folder / MANIFEST).read_text(encoding="utf-8"))["loads"]
    assert loads == {"model": NAMED_MODELS[smollm2].sha256}


def test_scores_of_a_replaced_pipeline_are_not_mixed(files, tmp_path):
    folder, _ = files
    nlp = tmp_path / "pipeline"
    shutil.copytree(BUNDLED, nlp)
    arguments = (folder, "errant", tmp_path / "scores", {"nlp": str(nlp)})
    make_run(*arguments)
    assert len(make_run(*arguments).pending()) == 5
    meta = json.loads((nlp / "meta.json").read_text(encoding="utf-8"))
    (nlp / "meta.json").write_text(json.dumps({**meta, "version": "9.9.9"}), encoding="utf-8")
    with pytest.raises(ValueError, match="other input, settings or weights"):
        make_run(*arguments)


def test_an_input_without_rows_has_no_corpus_score(files, tmp_path):
    folder, _ = files
    run = make_run(folder / "e.parquet", "gleu", tmp_path / "scores", {})
    assert (run.parts, run.pending()) == ((), [])
    with pytest.raises(ValueError, match="the input has no rows"):
        run.corpus_score()


def test_the_function_is_hashed_by_what_it_computes():
    from datasets.fingerprint import Hasher

    scorer = BatchScorer("gleu", unit="char")
    before = Hasher.hash(scorer)
    scorer({"sources": ["a b"], "predictions": ["a b"], "references": [["a b"]]})
    assert Hasher.hash(scorer) == before
    assert Hasher.hash(BatchScorer("gleu")) != before
