"""What columns hold, and what metrics are given in their place."""

import dataclasses

import pytest

import geceval
from geceval import registry
from geceval.core.inputs import Columns
from geceval.text.columns import as_tokens, evidence, kind, read, read_rows
from geceval.text.tokenisers import detokenise

SOURCES = ['She do n\'t go to " school " .', "I can not see it , but he is well known .", "What is you name ?"]
SYSTEM = ['She does n\'t go to " school " .', "I can not see it , but he is well - known .", "What is your name ?"]
REFERENCES = [[SYSTEM[0]], ["I can not see it , but he is well known ."], [SYSTEM[2]]]
PROSE = ["She doesn’t go to “school”.", "I cannot see it, but he is well-known.", "What is your name?"]
COMPARING = ("errant", "m2", "gleu", "green", "i_measure", "cleme")


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("I go .", -1),
        ("I go , you do n't .", -1),
        ("Er geht , sagt sie .", -1),
        ("I go.", 1),
        ("I don't", 1),
        ('He said "yes" (twice)', 1),
        ("Ja, sagt sie.", 1),
        ("I go", 0),
        ("", 0),
        ("He came at 10 p.m.", 0),
        ("the U.S. and e.g. word(s) his/her well-known 3.5", 0),
        ("我喜欢你!", 0),
        ("I go . And you.", 0),  # one of each
    ],
)
def test_what_a_text_shows(text, verdict):
    assert evidence(text) == verdict


def test_words_of_the_source_show_nothing():
    assert evidence("I went etc.", frozenset(["I", "go", "etc."])) == 0
    assert evidence("I go.", frozenset(["I", "go", "."])) == 1


def test_the_majority_of_a_column_decides():
    kinds = {"tokens": ["I go .", "I go .", "I go."], "": ["I go .", "I go."], "prose": ["I go.", "Go"]}
    assert {name: kind(texts) for name, texts in kinds.items()} == {name: name for name in kinds}


@pytest.mark.parametrize("name", COMPARING)
def test_prose_scores_as_its_tokens_do(name, caplog):
    scorer = registry.make_scorer(name)
    expected = scorer.score(SOURCES, SYSTEM, REFERENCES)
    assert "text" not in expected.details and not caplog.records
    assert registry.make_scorer(name, {"text": "tokens"}).score(SOURCES, SYSTEM, REFERENCES).scores == expected.scores
    # Without the spaces of "well - known", which no source has, the text metrics' hyphens are the Treebank's.
    system = [detokenise(text) for text in SYSTEM]
    result = scorer.score(SOURCES, system, REFERENCES)
    assert (result.score, result.scores) == (expected.score, expected.scores)
    assert result.details["text"] == {"converted": {"predictions": 3}, "tokeniser": "source"}
    assert caplog.messages == [
        f"{name}: read as prose and tokenised to match the sources: 3 predictions; text='tokens' turns this off"
    ]


@pytest.mark.parametrize("name", COMPARING)
def test_prose_throughout(name):
    prose = [[detokenise(text) for text in column] for column in (SOURCES, SYSTEM)]
    references = [[detokenise(text) for text in row] for row in REFERENCES]
    result = registry.make_scorer(name).score(*prose, references)
    assert result.scores == registry.make_scorer(name).score(SOURCES, SYSTEM, REFERENCES).scores
    tokeniser = "spacy-en" if "edits" in registry.scorer_class(name).extra else "ptb"
    counts = dict.fromkeys(("sources", "predictions", "references"), 3)
    assert result.details["text"] == {"converted": counts, "tokeniser": tokeniser}


def test_curly_marks_line_breaks_and_list_marks():
    predictions = ["She doesn’t\ngo to\u00a0“school”.", "• I cannot see it – but he is."]
    columns, reading = read(Columns(SOURCES[:2], predictions))
    assert columns.predictions == ['She does n\'t go to " school " .', "• I can not see it - but he is ."]
    assert reading.details() == {"converted": {"predictions": 2}, "tokeniser": "source"}


def test_what_needs_no_change_is_left_to_the_last_bit():
    sources, predictions = ["a  b .", "I go ."], [" a b  .\t", "I go."]
    columns, _ = read(Columns(sources, [predictions[0], "I went  ."]))
    assert columns == Columns(sources, [predictions[0], "I went  ."])
    columns, reading = read(Columns(sources, ["a  b .", "I go."], [["a b.", "a b ."], ["I go."]]))
    assert columns.predictions == ["a  b .", "I go."]  # one of each, and so is the first column of references
    assert reading.details()["converted"] == {"references": 2}


@pytest.mark.parametrize("known", ["impara", "scribendi", "fluency"])
def test_networks_read_prose_where_it_came_so(known):
    form = registry.scorer_class(known).form
    sources, predictions = [detokenise(text) for text in SOURCES], PROSE
    assert read(Columns(sources, predictions), "auto", form)[0] == Columns(sources, predictions)
    mixed, _ = read(Columns(SOURCES, predictions), "auto", form)
    assert mixed.sources == SOURCES and mixed.predictions[0] == SYSTEM[0]


def test_language_models_read_all_texts_as_they_are():
    for name in ("impara_lm", "meaning", "llm_judge"):
        assert read(Columns(SOURCES, PROSE), "auto", registry.scorer_class(name).form)[0] == Columns(SOURCES, PROSE)


def test_rows_are_decided_one_by_one():
    columns = Columns([*SOURCES, "He run."], [PROSE[0], SYSTEM[1], "What is your name", "He runs."], None)
    together, reading = read_rows(columns)
    rows = zip(columns.sources, columns.predictions, strict=True)
    alone = [read(Columns([source], [text]))[0] for source, text in rows]
    assert together.predictions == [each.predictions[0] for each in alone]
    assert together.predictions == [SYSTEM[0], SYSTEM[1], "What is your name", "He runs ."]
    assert reading.converted["predictions"] == 2


def test_rewards_and_batches_do_not_depend_on_other_rows(caplog):
    texts = [PROSE[0], SYSTEM[1], SYSTEM[2]]
    rows = list(zip(SOURCES, texts, REFERENCES, strict=True))
    reward = geceval.reward("errant")
    assert reward(SOURCES, texts, REFERENCES) == [reward([s], [p], [r])[0] for s, p, r in rows] == [1.0, 0.0, 1.0]
    caplog.clear()
    scorer = geceval.BatchScorer("errant")
    for _ in range(2):
        batch = scorer({"sources": SOURCES, "predictions": texts, "references": REFERENCES})
        assert batch["errant"] == [1.0, 0.0, 1.0]
    assert len(caplog.records) == 1  # of two batches


def test_edits_are_shown_over_the_tokens_that_are_compared():
    assert as_tokens(Columns([SOURCES[0]], [PROSE[0]])) == Columns([SOURCES[0]], [SYSTEM[0]])
    [[(edit, _)]] = geceval.edit_impacts([detokenise(SOURCES[0])], [PROSE[0]])
    assert (edit.start, edit.end, edit.correction) == (1, 2, "does")
    [attribution] = geceval.attribute("gleu", [SOURCES[0]], [PROSE[0]], REFERENCES[:1])
    assert (attribution.source, attribution.prediction) == (SOURCES[0], SYSTEM[0])
    [words] = geceval.detect([PROSE[2]])
    assert [word.text for word in words] == SYSTEM[2].split()


@pytest.mark.parametrize("name", ["errant", "m2", "gleu", "green", "cleme"])
def test_sources_in_prose_get_the_tokens_of_the_m2_file(name, tmp_path):
    gold = tmp_path / "gold.m2"
    gold.write_text(f"S {SOURCES[0]}\nA 1 2|||R:VERB:SVA|||does|||REQUIRED|||-NONE-|||0\n\n", encoding="utf-8")
    scorer = registry.make_scorer(name, {"gold_m2": gold})
    result = scorer.score([detokenise(SOURCES[0])], PROSE[:1])
    assert result.scores == scorer.score(SOURCES[:1], SYSTEM[:1]).scores
    assert result.details["text"]["converted"] == {"sources": 1, "predictions": 1}


def test_labels_are_those_of_words_between_spaces():
    result = registry.make_scorer("ged").score(["He go home, yes."], ["C I C C"], ["C I C C"])
    assert (result.score, "text" in result.details) == (1.0, False)


def test_a_tokeniser_is_taken_at_its_word():
    columns, reading = read(Columns(["I do n't go."], ["I don't go ."], [["don't"]]), "ptb")
    assert columns == Columns(["I do n't go ."], ["I do n't go ."], [["do n't"]])
    assert reading.details() == {"converted": {"sources": 1, "predictions": 1, "references": 1}, "tokeniser": "ptb"}
    assert read(Columns(["我喜欢"], ["我 喜"]), "char")[0] == Columns(["我 喜 欢"], ["我 喜"])


@pytest.mark.parametrize("metric", ["m2", "gleu"])
def test_answers_that_are_not_cleaned_are_told(metric, caplog):
    answers = [f"Sure! Here is the corrected sentence: {SYSTEM[0]}", *SYSTEM[1:]]
    registry.make_scorer(metric).score(SOURCES, answers, REFERENCES)
    told = [text for text in caplog.messages if "text around the correction" in text]
    assert told == [
        f"{metric}: 1 prediction has text around the correction, as answers of language models do; "
        "text='answers' cleans them"
    ]
    caplog.clear()
    registry.make_scorer(metric, {"text": "answers"}).score(SOURCES, answers, REFERENCES)
    quoted = f"Here is the corrected sentence: {SOURCES[0]}"  # by the learner
    registry.make_scorer(metric).score([quoted, *SOURCES[1:]], [quoted, *SYSTEM[1:]], REFERENCES)
    registry.make_scorer(metric).score(["My answer are : no ."], ["My answer is : no ."], [["My answer is : no ."]])
    assert not [text for text in caplog.messages if "text around the correction" in text]


def test_answers_are_cleaned_and_refusals_counted(caplog):
    refusal = "I'm sorry, but I can't help with that."
    answers = [f"Sure! Here is the corrected sentence:\n{PROSE[0]}", refusal, SYSTEM[2]]
    result = registry.make_scorer("m2", {"text": "answers"}).score(SOURCES, answers, REFERENCES)
    assert result.scores[0] == result.scores[2] == 1.0 > result.scores[1]
    expected = {"converted": {"predictions": 2}, "tokeniser": "source", "refusals": 1}
    expected["cleaned"] = {"preamble": 1, "marks": 1}
    assert result.details["text"] == expected
    assert "m2: answers were cleaned: marks 1, preamble 1; 1 refusal" in caplog.messages


def test_the_setting_is_that_of_every_metric_and_in_its_signature():
    for name in geceval.list_metrics():
        fields = {field.name: field for field in dataclasses.fields(registry.scorer_class(name).Settings)}
        assert fields["text"].default == "auto", name
    line = registry.make_scorer("gleu", {"text": "ptb"}).score(SOURCES, SYSTEM, REFERENCES).signature
    assert line.startswith("gleu|text:ptb|")
    with pytest.raises(ValueError, match="text must be one of 'auto', 'tokens', 'prose', 'answers', 'spacy-en'"):
        registry.make_scorer("gleu", {"text": "moses"})


def test_the_signature_says_by_what_prose_was_tokenised():
    gleu = registry.make_scorer("gleu")
    tokens, prose = ["He like well-known cats ."] * 3, ["He likes well-known cats."] * 3
    lines = [gleu.score(*columns).signature for columns in [(tokens, tokens, tokens), (tokens, prose, tokens)]]
    assert [line.split("|")[1] for line in lines] == ["text:auto", "text:auto>source"]
    assert gleu.score(prose, prose, prose).signature.split("|")[1] == "text:auto>ptb"
    named = registry.make_scorer("gleu", {"text": "syntok"}).score(prose, prose, prose)
    assert named.signature.split("|")[1] == "text:syntok"
