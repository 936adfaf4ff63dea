"""ERRANT edits: the same as plain ERRANT's, extracted once, in any number of processes, with any usable pipeline."""

import functools
import json
import pickle
import random
import shutil
import subprocess
import sys
from pathlib import Path

import errant
import errant.alignment
import errant.en.classifier
import pytest
import spacy
from spacy.tokens import Doc

import geceval
from geceval.edits.edit import Edit, apply
from geceval.edits.errant import alignment, pipeline
from geceval.edits.errant.annotator import get_annotator
from geceval.edits.errant.parsed import ParsedAnnotator
from geceval.edits.m2 import M2Sentence

# Invented; between them they hold every operation, merges, a transposition, case and spacing changes.
PAIRS = [
    ("She go to school since three year .", "She has gone to school for three years ."),
    ("Doctor came yesterday evening late .", "The doctor came late yesterday evening ."),
    ("I look forward to meet you soon", "I am looking forward to meeting you soon ."),
    ("Because the informations was wrong .", "The information was wrong ."),
    ("my friends house are big , we play", "My friend 's house is big . We play"),
    ("they realy like eachother", "They really like each other"),
    ("It is more free then before", "It is freer than before"),
    ("a b", "a a b"),
    ("He said me that", "He told me so"),
]


@pytest.fixture(scope="module")
def bundled():
    return get_annotator("bundled")


@pytest.fixture
def fresh():
    """A function that makes an annotator with empty caches over the bundled pipeline."""
    return functools.partial(ParsedAnnotator, spacy.load(pipeline.BUNDLED), "fresh")


WORDS = ["the", "The", "a", "cat", "cats", "Cat", "sat", "on", "mat", "in", ",", ".", "'s", "-"]
LEMMAS = ["x", "y", "z"]
VOCABULARY = spacy.blank("en").vocab
TAGS = ["ADJ", "ADP", "NOUN", "VERB", "PUNCT"]


def random_doc(words, dice):
    doc = Doc(VOCABULARY, words)
    for token in doc:
        token.lemma_, token.pos_ = dice.choice(LEMMAS), dice.choice(TAGS)
    return doc


def test_alignment_is_errants_on_random_token_sequences():
    dice = random.Random(20)
    operations = set()
    for _ in range(3000):
        words = [dice.choice(WORDS) for _ in range(dice.randint(0, 8))]
        others = list(words)
        for _ in range(dice.randint(0, 4)):
            change = dice.random()
            if change < 0.4:
                dice.shuffle(others)
            elif change < 0.7:
                others.insert(dice.randint(0, len(others)), dice.choice(WORDS))
            elif others:
                others.pop(dice.randrange(len(others)))
        docs = random_doc(words, dice), random_doc(others, dice)
        expected, ours = errant.alignment.Alignment(*docs), alignment.Alignment(*docs)
        assert [tuple(step) for step in ours.align_seq] == [(step[0][0], *step[1:]) for step in expected.align_seq]
        costs = ours.table.costs
        assert costs == [row[: len(costs[0])] for row in expected.cost_matrix[: len(costs)]]
        operations |= {step[0] for step in expected.align_seq}
    assert operations >= {"M", "S", "D", "I", "T2", "T3", "T4"}


@pytest.mark.parametrize(
    ("source", "corrected", "spans"),
    [
        ("", "", []),
        ("  \t ", "\u00a0", []),
        ("", "a b", [(0, 0, "a b")]),
        ("a b", " ", [(0, 2, "")]),
        ("a  b\u00a0c", "a b c", []),
        ("we\u00a0goes", "we go", [(1, 2, "go")]),
        ("I \U0001f600 this", "I \U0001f44d\U0001f3fd like this", [(1, 2, "\U0001f44d\U0001f3fd like")]),
    ],
)
def test_unusual_texts(bundled, source, corrected, spans):
    (edits,) = bundled.edits([(source, corrected)])
    assert [(e.start, e.end, e.correction) for e in edits] == spans


def test_rows_come_in_input_order_and_are_nobody_elses(bundled):
    once = bundled.edits(PAIRS)
    assert bundled.edits([*PAIRS[::-1], *PAIRS]) == once[::-1] + once
    bundled.edits(PAIRS)[0].clear()
    assert bundled.edits(PAIRS) == once
    assert bundled.edits([]) == []


PARSED = []


@spacy.Language.component("note_texts")
def note_texts(doc):
    PARSED.append(doc.text.strip())
    return doc


@pytest.fixture
def parsed():
    """An annotator with empty caches, and the texts that it has parsed in this process."""
    nlp = spacy.load(pipeline.BUNDLED)
    nlp.add_pipe("note_texts", first=True)
    annotator = get_annotator(nlp)
    assert annotator is get_annotator(nlp)
    PARSED.clear()  # of the sentence that the pipeline was tried on
    return annotator, PARSED


def test_worker_processes_give_the_same_edits(parsed):
    pairs = [(f"{source} {k}", corrected) for k in range(9) for source, corrected in PAIRS]
    expected = get_annotator("bundled").edits(pairs)
    annotator, seen = parsed
    try:
        assert annotator.edits(pairs, workers=2) == expected
        assert not seen  # all the parsing was done elsewhere
        assert annotator.edits(pairs[::-1], workers=2) == expected[::-1]
    finally:
        annotator._pool.close()
    assert annotator.edits(pairs, workers=2) == expected


SCRIPT = """
import json, multiprocessing, sys
import spacy
from geceval.edits.errant.annotator import get_annotator
from geceval.edits.errant.pipeline import BUNDLED

if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    print(get_annotator(spacy.load(BUNDLED)).edits(json.loads(sys.argv[1]), workers=2))
"""


@pytest.mark.slow
def test_worker_processes_can_be_spawned(tmp_path):
    pairs = [(f"She go {k} .", f"She goes {k} .") for k in range(70)]
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, script, json.dumps(pairs)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(get_annotator("bundled").edits(pairs))


def test_an_error_in_a_worker_is_the_same_error_here(fresh, monkeypatch):
    """ERRANT does not know the tag of a noun, say."""
    annotator = fresh()
    pairs = [(f"She go {k} .", f"She goes {k} cats .") for k in range(70)]
    monkeypatch.delitem(errant.en.classifier.pos_map, "NNS")
    messages = []
    for workers in (1, 2):
        with pytest.raises(ValueError, match="gives the tag 'NNS', which ERRANT does not know") as caught:
            annotator.edits(pairs, workers=workers)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    monkeypatch.undo()
    assert annotator.edits(pairs, workers=2) == get_annotator("bundled").edits(pairs)
    annotator._pool.close()


def test_every_network_multiplies_with_numpy_also_in_other_processes(bundled):
    for annotator in (bundled, pickle.loads(pickle.dumps(bundled))):
        nodes = [node for _, component in annotator._nlp.pipeline for node in component.model.walk()]
        assert {(node.ops.name, node.ops.use_blis) for node in nodes} == {("numpy", False)}


def test_unrelated_long_lines_do_not_take_for_ever(fresh, caplog):
    left, right = " ".join(f"a{n}" for n in range(600)), " ".join(f"b{n}" for n in range(700))
    found = fresh().edits([(left, right), ("a b", "a c")])
    assert apply(left, found[0]) == right
    assert caplog.messages == ["too long for ERRANT's alignment and aligned coarsely: 1 pair of texts"]


def test_texts_too_long_for_errant_are_aligned_coarsely_and_reported(fresh, monkeypatch, caplog):
    monkeypatch.setattr(alignment, "CELLS", 16)
    source, corrected = "I has a cats and him sees dog . yes", "I have a cat and he sees the dog . yes"
    edits, short = fresh().edits([(source, corrected), ("I has a b c d e f", "I have a b c d e f")])
    expected = [(1, 2, "have"), (3, 4, "cat"), (5, 6, "he"), (7, 7, "the")]
    assert [(e.start, e.end, e.correction) for e in edits] == expected
    assert [(e.start, e.end, e.correction) for e in short] == [(1, 2, "have")]
    assert {e.type[:2] for e in edits} == {"R:", "M:"}
    assert caplog.messages == ["too long for ERRANT's alignment and aligned coarsely: 1 pair of texts"]


def test_a_line_of_2000_words(bundled, caplog):
    words = [f"word{k}" if k % 7 else "the" for k in range(2000)]
    changed = ["new", *words[1:999], "words", *words[999:]]
    (edits,) = bundled.edits([(" ".join(words), " ".join(changed))])
    assert [(e.start, e.end, e.correction) for e in edits] == [(0, 1, "new"), (999, 999, "words")]
    assert not caplog.messages


def test_types_of_every_annotator_and_in_processes(bundled):
    edits = {0: [Edit(1, 2, "goes")], 4: [], 7: [Edit(0, 3, "She go to", "x", 7)]}
    (typed,) = bundled.classify_sentences([M2Sentence("She go to school .", edits, 5)])
    expected = {0: [Edit(1, 2, "goes", "R:VERB:SVA")], 4: [], 7: [Edit(0, 3, "She go to", "UNK", 7)]}
    assert typed == M2Sentence("She go to school .", expected, 5)
    texts = [f"He like {'very ' * (number % 7)}dogs" for number in range(90)]
    sentences = [M2Sentence(text, {0: [Edit(1, 2, "likes")]}) for text in texts]
    assert bundled.classify_sentences(sentences, workers=2) == bundled.classify_sentences(sentences)


def test_types_for_edits_made_by_hand(bundled):
    source = "She go to  school since three year ."
    edits = [Edit(6, 7, "years", "Nn", 3), Edit(1, 2, "has gone", "Vt", 3)]
    edits += [Edit(-1, -1, "", "noop"), Edit(3, 3, "the", "X")]
    assert bundled.classify([(source, edits), ("", [])]) == [
        [Edit(1, 2, "has gone", "R:VERB:TENSE", 3), Edit(3, 3, "the", "M:DET"), Edit(6, 7, "years", "R:NOUN:NUM", 3)],
        [],
    ]
    with pytest.raises(ValueError, match="overlap"):
        bundled.classify([(source, [Edit(0, 2, "x"), Edit(1, 3, "y")])])


def test_the_name_of_the_pipeline_tells_its_content(tmp_path, bundled):
    version = json.loads((pipeline.BUNDLED / "meta.json").read_text())["version"]
    assert f"-{version}@" in bundled.pipeline
    copy = tmp_path / "copy"
    shutil.copytree(pipeline.BUNDLED, copy)
    assert get_annotator(str(copy)).pipeline == bundled.pipeline
    lookups = copy / "tagger" / "cfg"
    lookups.write_text(lookups.read_text() + "\n")
    other = tmp_path / "other"
    copy.rename(other)
    assert get_annotator(other).pipeline.split("@")[0] == bundled.pipeline.split("@")[0]
    assert get_annotator(other).pipeline != bundled.pipeline


def test_a_loaded_pipeline_is_named_by_its_content(bundled):
    nlp = spacy.load(pipeline.BUNDLED)
    name = get_annotator(nlp).pipeline
    list(nlp.pipe(["Some new zzyzx words"]))
    assert pipeline.load(nlp)[1] == name
    with_other_weights = spacy.load(pipeline.BUNDLED)
    tagger = with_other_weights.get_pipe("tagger").model
    tagger.get_ref("softmax").get_param("b")[0] += 1
    assert pipeline.load(with_other_weights)[1] != name
    assert name.split("@")[0] == bundled.pipeline.split("@")[0]


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The bundled pipeline, installed as the package en_core_web_sm 9.9.9."""
    site = tmp_path / "site"
    package = site / "en_core_web_sm"
    shutil.copytree(pipeline.BUNDLED, package / "en_core_web_sm-9.9.9")
    meta = json.loads((pipeline.BUNDLED / "meta.json").read_text())
    meta.update(name="core_web_sm", version="9.9.9")
    for path in (package / "meta.json", package / "en_core_web_sm-9.9.9" / "meta.json"):
        path.write_text(json.dumps(meta))
    (package / "__init__.py").write_text(
        "from spacy.util import load_model_from_init_py\n"
        "def load(**overrides):\n    return load_model_from_init_py(__file__, **overrides)\n"
    )
    info = site / "en_core_web_sm-9.9.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: en_core_web_sm\nVersion: 9.9.9\n")
    monkeypatch.syspath_prepend(site)
    geceval.clear_caches()
    yield package
    geceval.clear_caches()
    sys.modules.pop("en_core_web_sm", None)


def test_the_bundled_pipeline_is_taken_whatever_is_installed(installed, bundled, caplog):
    caplog.set_level("INFO", logger="geceval")
    assert get_annotator().pipeline == bundled.pipeline
    assert get_annotator("bundled") is get_annotator()
    (record,) = caplog.records
    assert record.levelname == "INFO"
    assert 'en_core_web_sm is installed, too: nlp="official" takes it' in record.message


def test_the_official_pipeline_is_found_under_its_name(installed):
    assert get_annotator("official").pipeline == "en_core_web_sm-9.9.9"
    assert get_annotator("official") is get_annotator("en_core_web_sm")


def test_the_official_pipeline_is_found_under_a_longer_name_and_not_replaced(monkeypatch):
    """As the package index has it, whose own names are taken."""
    monkeypatch.setattr(spacy.util, "is_package", lambda name: name == "en_core_web_sm_again")
    monkeypatch.setattr(spacy.util, "get_installed_models", lambda: ["en_core_web_lg", "en_core_web_sm_again"])
    assert pipeline.resolve("official") == "en_core_web_sm_again"
    monkeypatch.setattr(spacy.util, "is_package", lambda name: False)
    monkeypatch.setattr(spacy.util, "get_installed_models", lambda: ["en_core_web_lg"])  # which does not replace it
    with pytest.raises(ValueError, match="en_core_web_sm is not installed.* python -m spacy download en_core_web_sm "):
        get_annotator("official")


def test_a_broken_installed_pipeline_is_not_passed_over(installed):
    (installed / "en_core_web_sm-9.9.9" / "tagger" / "model").write_bytes(b"")
    with pytest.raises(ValueError, match="cannot load .* python -m spacy download en_core_web_sm"):
        get_annotator("official")


def test_a_missing_pipeline_is_an_error_that_says_how_to_get_one(tmp_path, monkeypatch):
    told = "no spaCy pipeline 'en_core_web_trf'.* python -m spacy download en_core_web_trf "
    with pytest.raises(ValueError, match=told):
        get_annotator("en_core_web_trf")
    with pytest.raises(ValueError, match="holds no spaCy pipeline .* python -m spacy download en_core_web_sm "):
        get_annotator(tmp_path)
    with pytest.raises(TypeError, match="nlp must be a spaCy pipeline, its name or its folder, got int"):
        get_annotator(3)
    monkeypatch.setattr(pipeline, "BUNDLED", Path(tmp_path / "gone"))
    with pytest.raises(ValueError, match="comes with geceval is missing .* python -m spacy download en_core_web_sm "):
        get_annotator("bundled")


def test_a_pipeline_without_a_tagger_is_refused():
    with pytest.raises(ValueError, match="does not give the Penn Treebank tags that ERRANT reads"):
        get_annotator(spacy.blank("en"))
