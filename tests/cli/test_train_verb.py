"""`geceval train impara`: from the user's corrections to a checkpoint, and what happens when something is wrong."""

import contextlib
import io
import json
import re

import pytest

import geceval
from geceval.cli.app import run
from geceval.cli.train import verdict
from geceval.learning.impara import bundled_scores, suited_recipe
from geceval.models.checkpoints import ASSETS

SMALL = ["--pairs", "120", "--epochs", "2", "--lr", "3e-3", "--quiet"]


@pytest.fixture(scope="module")
def base(make_checkpoint):
    return str(make_checkpoint(7))


@pytest.fixture(scope="module")
def trained(toy_corpus, base, tmp_path_factory):
    """The arguments of a finished run, its folder, and what it said on standard output and error."""
    folder = tmp_path_factory.mktemp("trained") / "my impara"
    arguments = ["train", "impara", "--m2", str(toy_corpus), "--init-from", base, "--seeds", "3,4", *SMALL]
    arguments += ["-o", str(folder)]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert run([argument for argument in arguments if argument != "--quiet"]) == 0
    return arguments, folder, out.getvalue(), err.getvalue()


def test_each_epoch_is_told_in_a_line_for_people(trained):
    _, folder, out, err = trained
    history = json.loads((folder / "results.json").read_text())["runs"][1]["history"]
    for entry in history:
        line = f"epoch {entry['epoch']}: dev loss {entry['dev_loss']:.3f}, dev accuracy {entry['dev_accuracy']:.3f}"
        assert line in err
    assert "{" not in out + err


def test_the_options_reach_the_run(trained):
    _, folder, *_ = trained
    results = json.loads((folder / "results.json").read_text())
    settings = results["settings"]
    assert (settings["seeds"], settings["pairs"], settings["epochs"]) == ([3, 4], 120, 2)
    assert (settings["learning_rate"], settings["lora_rank"], settings["log_odds"]) == (3e-3, 0, False)
    assert [entry["seed"] for entry in results["runs"]] == [3, 4]
    assert results["data"][0]["pairs"] == {"train": 96, "dev": 12, "test": 12}


def test_again_it_says_the_same_and_trains_nothing(trained, capsys):
    arguments, folder, *_ = trained
    weights = folder / "model.safetensors"
    before = weights.stat().st_mtime_ns
    assert run(arguments) == 0
    out, err = capsys.readouterr()
    assert weights.stat().st_mtime_ns == before
    assert "all weights, learning rate 0.003, at most 2 epochs, seed 3, 4" in out
    assert "from toy.m2: at most 120 ranked pairs each" in out
    assert "96 pairs to learn from, 12 to choose by, 12 held out; kept: epoch " in out
    results = json.loads((folder / "results.json").read_text())
    (after, first) = re.findall(r"right order: (\S+) \(bundled IMPARA: (\S+)\)", out)[0]
    assert "\n12 held-out pairs: too few to judge; train on more corrections\n" in out
    assert after == f"{results['test']['accuracy']:.3f}"
    assert first == f"{bundled_scores(folder)['accuracy']:.3f}"
    assert f"-o model='{folder}' " in out
    assert f'geceval.load("impara", model="{folder}")' in out
    assert err == ""


@pytest.mark.parametrize(
    ("accuracy", "before", "pairs", "said"),
    [
        (1.0, 0.2, 49, "49 held-out pairs: too few to judge"),
        (0.8, 0.8, 400, "no better than bundled IMPARA: stay with it"),
        (0.7, 0.8, 400, "no better than bundled IMPARA: stay with it"),
        (0.83, 0.8, 400, "not clearly better than bundled IMPARA"),  # two standard errors are 0.055
        (0.86, 0.8, 400, "better than bundled IMPARA, by more than chance"),
    ],
)
def test_it_says_whether_the_training_was_worth_it(accuracy, before, pairs, said):
    assert verdict(accuracy, before, pairs, "bundled IMPARA").startswith(said)


def test_who_interrupts_is_told_how_to_go_on(toy_corpus, base, tmp_path, monkeypatch, capsys):
    def stop(job, folder, progress):
        raise KeyboardInterrupt

    monkeypatch.setattr("geceval.learning.impara.train_impara", stop)
    arguments = ["--m2", str(toy_corpus), "--init-from", base, "-o", str(tmp_path / "new")]
    assert run(["train", "impara", *arguments]) == 130
    assert capsys.readouterr().err == "geceval: interrupted: the same command goes on\n"


def test_the_checkpoint_scores(trained):
    _, folder, *_ = trained
    source, right = "the cat sit on mat dog run school", "the cat sat on mat dog runs school"
    metric = geceval.load("impara", model=str(folder), threshold=-2.0)
    result = metric.compute(sources=[source] * 2, predictions=[right, source])
    assert result["scores"][0] > result["scores"][1]
    assert "|model:my impara@" in result["signature"]


def test_other_settings_in_the_same_folder_are_refused(trained, fails):
    arguments, folder, *_ = trained
    assert "holds a run with other settings or data" in fails(*arguments, "--epochs", "1")
    assert (folder / "model.safetensors").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to learn from"),
        (["--m2", "absent.m2"], "absent.m2: No such file"),
        (["--m2", "bad.m2"], r"bad\.m2, line 2: "),
        (["--m2", "short.m2"], "too few corrected sentences"),
        (["--parallel", "one.txt"], "--parallel takes a source and a corrected file, got 1: one.txt"),
        (["--parallel", "one.txt", "two.txt"], "two.txt has 2 lines but one.txt has 1; they must be parallel"),
        (["--m2", "short.m2", "--seeds", "1", "x"], "--seeds must be whole numbers, got 'x'"),
        (["--m2", "short.m2", "--epochs", "0"], "epochs must be at least 1, got 0"),
        (["--m2", "short.m2", "--pairs", "9"], "pairs must be at least 10"),
        (["--m2", "short.m2", "--dtype", "int8"], "dtype must be one of 'float32', 'bfloat16'"),
        (["--m2", "short.m2", "--init-from", "./nowhere"], "nowhere: no such folder"),
        (["--m2", "short.m2", "--init-from", "ORG/NAME"], "the Hub is switched off"),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(arguments, message, tmp_path, monkeypatch, capsys):
    (tmp_path / "bad.m2").write_text("S a b\nA 0 1 R x\n\n")
    (tmp_path / "short.m2").write_text("S a cat sit\nA 2 3|||R:VERB|||sat|||REQUIRED|||-NONE-|||0\n\n")
    (tmp_path / "one.txt").write_text("a cat sit\n")
    (tmp_path / "two.txt").write_text("a cat sat\nthe dog\n")
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    assert run(["train", "impara", *arguments, "--quiet", "-o", "new/deep"]) == 2
    out, err = capsys.readouterr()
    assert re.match(f"geceval: error: .*{message}", err.splitlines()[-1])
    assert out == ""  # no plan
    assert [path for path in sorted(tmp_path.iterdir()) if path not in before] in ([], [tmp_path / "new"])
    assert not (tmp_path / "new" / "deep").exists()


def test_a_language_model_is_compared_with_itself_untrained(toy_corpus, make_causal, tmp_path, capsys):
    base = str(make_causal(3, "llama"))
    arguments = ["--m2", str(toy_corpus), "--init-from", base, "--pairs", "60", "--quiet", "-o", str(tmp_path / "lm")]
    assert run(["train", "impara-lm", *arguments]) == 0
    out = capsys.readouterr().out
    results = json.loads((tmp_path / "lm/results.json").read_text())
    assert "a LoRA adapter of rank 16, learning rate 0.0005, at most 1 epoch, seed 1" in out
    after, before = (f"{results[name]['accuracy']:.3f}" for name in ("test", "untrained"))
    assert f"right order: {after} ({base}, untrained: {before})" in out


def test_the_recipe_of_the_bundled_base_is_that_of_the_bundled_impara():
    settings = json.loads((ASSETS / "impara" / "results.json").read_text())["settings"]
    recipe, log_odds = suited_recipe("bundled")
    for name in ("base", "pooling", "pooler", "head_deviation", "lora_rank", "learning_rate", "schedule", "warmup"):
        assert getattr(recipe, name) == settings[name], name
    assert (recipe.epochs, log_odds) == (settings["epochs"], settings["log_odds"])


def test_german_is_learnt_with_edits_of_german(base, tmp_path, capsys):
    source, corrected = tmp_path / "source.txt", tmp_path / "corrected.txt"
    source.write_text("".join(f"Das haus {n} ist ser groß und ich gehe dort hin .\n" for n in range(40)))
    corrected.write_text("".join(f"Das Haus {n} ist sehr groß , und ich gehe dorthin .\n" for n in range(40)))
    arguments = ["train", "impara", "--parallel", str(source), str(corrected), "--init-from", base, *SMALL]
    assert run([*arguments, "--language", "de", "-o", str(tmp_path / "de")]) == 0
    assert "language" not in capsys.readouterr().err
    results = json.loads((tmp_path / "de" / "results.json").read_text())
    assert results["settings"]["language"] == "de"
    assert results["data"][0]["edits"] == 40 * 4  # Haus, sehr, the comma, dorthin
    metric = geceval.load("impara", model=str(tmp_path / "de"))
    scored = metric.compute(sources=["Das haus ist ser groß ."], predictions=["Das Haus ist sehr groß ."])
    assert "|model:de@" in scored["signature"]


def test_chinese_is_refused_before_anything_is_read(fails):
    arguments = ["train", "impara", "--parallel", "a.txt", "b.txt", "--language", "zh", "-o", "new"]
    assert "edits of characters, and pairs are made of words" in fails(*arguments)
