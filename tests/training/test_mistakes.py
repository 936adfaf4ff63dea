"""What a script of training refuses: one line that begins with its name, the exit code 2, and no folder."""

import importlib

import pytest

from geceval.edits.edit import Edit
from geceval.edits.m2 import M2Sentence, write_m2

OF_SCRIPTS = {
    "train_impara": [
        ("--m2 absent.m2", "absent.m2"),
        ("", "nothing to learn from"),
        ("--m2 CORPUS --pairs 3", "pairs must be at least 10"),
        ("--m2 CORPUS --max-length 4000", "reads at most"),
        ("--m2 CORPUS --init-from ./absent", "no such folder"),
    ],
    "train_impara_lm": [
        ("", "nothing to learn from"),
        ("--m2 CORPUS --lora-rank 0", "lora_rank must be at least 1"),
        ("--m2 CORPUS --keep-rank 9", "keep_rank must be at most lora_rank, 8"),
        ("--m2 CORPUS --init-from bundled", "parameters are missing"),
    ],
    "train_ged": [
        ("", "nothing to learn from"),
        ("--train-m2 CORPUS", "nothing to learn from"),
        ("--m2 CORPUS --partial 2", "partial must lie between 0 and 1"),
        ("--m2 NUCLE --classes 25", "'ArtOrDet', not one of ERRANT's"),
        ("--m2 absent.m2", "absent.m2"),
        ("--m2 FEW", "dev: there is no sentence with a token among 0; more sentences fill every fold"),
        ("--m2 CORPUS --test-m2 EMPTY", "empty.m2: there is no sentence with a token among 2"),
    ],
    "train_some": [
        ("--ratings absent.csv", "absent.csv"),
        ("--ratings RATINGS --dev 1 --test 423", "the train fold is empty"),
        ("--ratings RATINGS --max-length 4000", "reads at most"),
        ("--ratings RATINGS --meaning-init-from ./absent", "absent: no such folder"),
        ("--ratings RATINGS --init-from CAUSAL --head-layer 9", "head_layer is 9, but the base has 2 layers"),
        ("--ratings RATINGS --init-from CAUSAL --head-layer 0", "head_layer must be at least 1"),
        ("--ratings RATINGS --init-from CAUSAL --head-layer 1 --lora-rank 2", "head_layer leaves the base as it is"),
        ("--ratings RATINGS --head-layer 1", "parameters are missing"),
        ("--ratings RATINGS --init-from CAUSAL", "a causal language model, whose tokens do not see what follows"),
    ],
    "train_meaning": [("", "give an M2 file")],
    "distill": [
        ("", "nothing to learn from"),
        ("--m2 CORPUS --layers 3", "layers must be from 1 to 2"),
        ("--m2 CORPUS --vocabulary 256", "vocabulary must be at least 257"),
        ("--m2 CORPUS --held 900", "900 are kept apart (held); give more corrected sentences, or keep fewer groups"),
        ("--m2 CORPUS --init-from bundled:encoder", "its tokenizer has neither a BOS token nor"),
    ],
}
OPTIONS = {
    "train_impara_lm": "--lora-rank 8",
    "train_some": "--dev 20 --test 20",
    "distill": "--texts 200 --held 8 --errors 2 --layers 2 --vocabulary 257",
}


@pytest.fixture(scope="module")
def files(corpus, some_ratings, base, make_causal, tmp_path_factory):
    """What stands for the words in capitals."""
    folder = tmp_path_factory.mktemp("files")
    nucle, few, empty = folder / "nucle.m2", folder / "few.m2", folder / "empty.m2"
    write_m2(nucle, [M2Sentence("cat sat", {0: [Edit(0, 0, "the", "ArtOrDet")]})] * 20)
    write_m2(few, [M2Sentence(f"cat {n}", {0: [Edit(0, 0, "the", "M:DET")]}) for n in range(4)])
    write_m2(empty, [M2Sentence(""), M2Sentence("")])
    texts = {"CORPUS": corpus, "RATINGS": some_ratings, "NUCLE": nucle, "FEW": few, "EMPTY": empty}
    return {**texts, "BASE": base, "CAUSAL": make_causal(3, "llama")}


@pytest.mark.parametrize(
    ("name", "options", "message"), [(name, *row) for name, rows in OF_SCRIPTS.items() for row in rows]
)
def test_options_of_a_training(files, tmp_path, capsys, name, options, message):
    start = "CAUSAL" if name in ("train_impara_lm", "distill") else "BASE"
    words = f"--init-from {start} --quiet {OPTIONS.get(name, '')} {options}".split()
    arguments = [str(files.get(word, word)) for word in words]
    assert importlib.import_module(name).main([*arguments, "--output", str(tmp_path / "new")]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith(f"{name}: ") and message in error
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("evaluate_checkpoint", "impara NOTHING --seeda absent-seeda", "absent-seeda"),
        ("evaluate_checkpoint", "impara NOTHING", "NOTHING"),
        ("calibrate_threshold", "NOTHING --different CORPUS --corrections CORPUS", "NOTHING"),
        ("calibrate_threshold", "NOTHING --different absent.m2 --corrections CORPUS", "absent.m2"),
        ("bundle_adapter", "BASE NEW", "no adapter there"),
        ("count_words", "absent.txt --output NEW", "absent.txt"),
        ("train_edit_quality", "--m2 absent.m2 --output NEW", "absent.m2"),
        ("train_gec_example", "--train FEW FEW --dev FEW EMPTY --output NEW", "has 6 lines but"),
        ("ged_ablation", "--train-m2 FEW --dev-m2 FEW --m2 FEW --ratings RATINGS --seeda gone --output NEW", "gone"),
    ],
)
def test_files_of_other_scripts(files, tmp_path, capsys, name, arguments, message):
    (tmp_path / "nothing").mkdir()
    places = {**files, "NOTHING": tmp_path / "nothing", "NEW": tmp_path / "new"}
    assert importlib.import_module(name).main([str(places.get(word, word)) for word in arguments.split()]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{name}: ") and str(places.get(message, message)) in line
    assert not (tmp_path / "new").exists()
