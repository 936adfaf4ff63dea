"""ERRANT for languages other than English: without a tagger, or with any spaCy pipeline."""

import functools
import pickle
import sys

import pytest
import spacy

import geceval
from geceval.cli.app import run
from geceval.edits.edit import Edit
from geceval.edits.errant import annotator as annotator_module
from geceval.edits.errant import languages
from geceval.edits.errant.annotator import get_annotator
from geceval.edits.m2 import read_m2, references

PARTS = {"Gestern": "ADV", "ich": "PRON", "habe": "AUX", "haus": "NOUN", "Haus": "NOUN", "Häuser": "NOUN", "das": "DET"}


@spacy.Language.component("parts_of_a_list")
def parts_of_a_list(doc):
    for token in doc:
        token.pos_, token.lemma_ = PARTS.get(token.text, "X"), "haus" if "u" in token.text else token.lower_
    return doc


def edits(source, corrected, language="any", **settings):
    (row,) = get_annotator(language=language, **settings).edits([(source, corrected)])
    return [(edit.start, edit.end, edit.correction, edit.type) for edit in row]


german = functools.partial(edits, language="de")


def test_spans_and_types_without_a_tagger():
    """Each made by hand from ERRANT's rules."""
    found = edits("Gestern ich habe das haus geseehn ,", "Gestern habe ich das Haus gesehen .")
    assert found[:2] == [(1, 3, "habe ich", "R:WO"), (4, 5, "Haus", "R:ORTH")]
    assert found[2:] == [(5, 6, "gesehen", "R:SPELL"), (6, 7, ".", "R:PUNCT")]
    assert edits("Вона пішла до дому", "Вона пішла додому .") == [(2, 4, "додому", "R:ORTH"), (4, 4, ".", "M:PUNCT")]
    assert edits("Doctor kam gestern", "Der doctor kam") == [(0, 1, "Der doctor", "M:OTHER"), (2, 3, "", "U:OTHER")]
    assert edits("שלום עולמ", "שלום עולם") == [(1, 2, "עולם", "R:SPELL")]


def test_edits_made_by_hand_get_these_types():
    row = ("Er wohnt in haus", [Edit(3, 4, "Haus"), Edit(3, 3, "einem")])
    typed = [[Edit(3, 3, "einem", "M:OTHER"), Edit(3, 4, "Haus", "R:ORTH")]]
    assert get_annotator(language="any").classify([row]) == typed
    assert pickle.loads(pickle.dumps(get_annotator(language="any"))).classify([row]) == typed


def test_a_pipeline_gives_universal_parts_of_speech():
    nlp = spacy.blank("de")
    with pytest.raises(ValueError, match="gives no universal parts of speech; leave nlp out"):
        get_annotator(nlp, "any")
    nlp.add_pipe("parts_of_a_list")
    assert edits("haus habe", "Häuser habe", nlp=nlp) == [(0, 1, "Häuser", "R:NOUN:FORM")]
    assert edits("habe", "das Haus habe", nlp=nlp) == [(0, 0, "das Haus", "M:OTHER")]
    assert edits("das habe ich", "das Haus habe", nlp=nlp) == [(1, 1, "Haus", "M:NOUN"), (2, 3, "", "U:PRON")]


def test_german_edits_are_held_together_by_words_with_meaning():
    """By hand from the rules: auxiliaries, particles and commas are edits of their own; no token is split."""
    unneeded = german("Es gibt keine Arbeit zu haben .", "Es gibt keine Arbeit .")
    assert unneeded == [(4, 5, "", "U:PART"), (5, 6, "", "U:AUX")]
    missing = german("Ich glaube er kommt .", "Ich glaube , dass er kommt .")
    assert missing == [(2, 2, ",", "M:PUNCT"), (2, 2, "dass", "M:SCONJ")]
    replaced = german("Ich sehe eine Haus zum ersten mal .", "Ich sehe ein Haus zum ersten Mal .")
    assert replaced == [(2, 3, "ein", "R:DET:FORM"), (6, 7, "Mal", "R:ORTH")]
    assert german("Er will zusammen arbeiten .", "Er will zusammenarbeiten .") == [(2, 4, "zusammenarbeiten", "R:ORTH")]
    assert german("Katze schläft", "Die katze schläft") == [(0, 1, "Die katze", "M:DET")]
    assert german("🙂 " + "x" * 500, "🙂 שלום") == [(1, 2, "שלום", "R:OTHER")]
    annotator = pickle.loads(pickle.dumps(get_annotator(language="de")))
    assert annotator.edits([("das haus", "das Haus")]) == [[Edit(1, 2, "Haus", "R:ORTH")]]


def test_german_without_its_tagger_names_the_command(monkeypatch):
    annotator_module._made.cache_clear()
    languages.german._tagger.cache_clear()
    monkeypatch.setitem(sys.modules, "HanTa.HanoverTagger", None)
    with pytest.raises(ImportError, match="language='de' needs the package HanTa: pip install .*languages"):
        get_annotator(language="de")


@pytest.mark.parametrize("metric", ["errant", "cleme", "gotoscorer"])
def test_the_signature_names_language_and_tagger(metric):
    columns = {"sources": ["Das haus ist groß ."], "predictions": ["Das Haus ist groß ."], "references": ["Das Haus ."]}
    options = {"difficulty": "uniform"} if metric == "gotoscorer" else {}
    result = geceval.load(metric, language="any", **options).compute(**columns)
    assert "|nlp:none|language:any|" in result["signature"] and "|errant:" in result["signature"]
    with pytest.raises(ValueError, match="language must be one of 'en', 'any', 'de', 'ru', 'zh'"):
        geceval.load(metric, language="klingon")


def test_convert_takes_a_language(tmp_path, capsys):
    (tmp_path / "source").write_text("Das haus\n", encoding="utf-8")
    (tmp_path / "corrected").write_text("Das Haus .\n", encoding="utf-8")
    files = [str(tmp_path / name) for name in ("source", "corrected")]
    assert run(["convert", *files, "--to", "m2", "--language", "any"]) == 0
    assert capsys.readouterr().out == (
        "S Das haus\nA 1 2|||R:ORTH|||Haus|||REQUIRED|||-NONE-|||0\nA 2 2|||M:PUNCT|||.|||REQUIRED|||-NONE-|||0\n\n"
    )


@pytest.mark.parametrize(
    ("path", "language", "f"),
    [
        ("german/fm-dev.m2", "any", 0.8804),
        ("german/fm-dev.m2", "de", 0.9621),
        ("ukrainian/gec-only.valid.m2", "any", 0.9800),
        ("russian/LORuGEC.val.m2", "any", 0.9586),
        ("russian/LORuGEC.val.m2", "ru", 0.9787),
    ],
)
def test_references_against_their_own_gold(shared_data, path, language, f):
    """German .8805 in the note on languages, whose prototype this was; the others measured here first."""
    gold = shared_data / "languages" / path
    sentences = read_m2(gold)
    sources = [sentence.source for sentence in sentences]
    first = [next(iter(references(sentence).values())) for sentence in sentences]
    scorer = geceval.load("errant", language=language, gold_m2=str(gold), text="tokens")
    assert scorer.compute(sources=sources, predictions=first)["score"] == pytest.approx(f, abs=5e-5)
