"""One extraction of edits serves all edit metrics and systems of a process."""

import spacy

from geceval.edits.errant import pipeline
from geceval.registry import make_scorer, score_systems

SOURCES = ["He go to school .", "It is fine .", "I likes cat ."]
SYSTEMS = {
    "one": ["He goes to school .", "It is fine .", "I like cats ."],
    "two": ["He goes to school .", "It is so fine .", "I likes cat ."],
}
REFERENCES = [["He goes to school .", "He went to school ."], ["It is fine ."], ["I like cats ."]]


def test_each_distinct_text_is_parsed_once_for_all_metrics_and_systems():
    parsed = []

    @spacy.Language.component("note_all_texts")
    def note_all_texts(doc):
        parsed.append(doc.text.strip())
        return doc

    nlp = spacy.load(pipeline.BUNDLED)
    nlp.add_pipe("note_all_texts", first=True)
    options = {
        **{"errant": {}, "pt_errant": {"weight": "self"}, "gotoscorer": {}, "uot_errant": {}},
        **{"cleme": {}, "cleme2": {"weights": "length"}},
    }
    scorers = [make_scorer(name, {"nlp": nlp, **settings}) for name, settings in options.items()]
    for scorer in scorers:
        scorer.load()
    parsed.clear()  # of the sentence that the pipeline was tried on
    for scorer in scorers:
        score_systems(scorer, SOURCES, SYSTEMS, REFERENCES)
    changed = {text for texts in (SOURCES, *SYSTEMS.values(), *REFERENCES) for text in texts}
    assert sorted(parsed) == sorted(changed)
