"""`geceval.maege`: each metric beside scoring every corpus and every text by itself."""

import pytest

import geceval
from geceval import registry
from geceval.edits.edit import Edit, apply
from geceval.edits.m2 import M2Sentence, read_m2, references, write_m2
from geceval.workflows.maege import Settings, chain_agreement, make_chains, make_corpora, sentence_correlation

BLOCKS = {
    "the cat sit on a mat": {0: [(1, "cats"), (4, "the")], 1: [(2, "sits"), (4, "the"), (5, "mats")]},
    "a dogs run to school": {0: [(0, "the")], 1: [(1, "dog"), (2, "runs")]},
    "he go home": {0: [(1, "goes")]},
    "they are happy": {0: [], 1: [(2, "sad")]},
}


@pytest.fixture
def m2(tmp_path) -> str:
    blocks = {text: {who: [Edit(at, at + 1, word, "R:X") for at, word in row] for who, row in edits.items()}
              for text, edits in BLOCKS.items()}  # fmt: skip
    sentences = [M2Sentence(text + " now" * number, edits) for number in range(6) for text, edits in blocks.items()]
    write_m2(tmp_path / "gold.m2", sentences)
    return str(tmp_path / "gold.m2")


@pytest.mark.parametrize("metric", ["gleu", "green", "m2", "i_measure"])
@pytest.mark.parametrize("kind", ["others", "all"])
def test_equals_scoring_every_text_and_corpus_by_itself(metric, kind, m2):
    found = geceval.maege(metric, m2, kind, seed=3)[metric]
    sentences = read_m2(m2)
    chains, corpora = make_chains(sentences, Settings(seed=3)), make_corpora(sentences, Settings(seed=3))
    texts = [references(sentence) for sentence in sentences]
    scorer = registry.make_scorer(metric)

    def refs(sentence: int, annotator: int) -> list[str]:
        return [text for who, text in texts[sentence].items() if kind == "all" or who != annotator]

    scores = [
        scorer.score([c.source] * len(c.texts), list(c.texts), [refs(c.sentence, c.annotator)] * len(c.texts)).scores
        for c in chains
    ]
    assert found.sentence == sentence_correlation(chains, scores)
    assert found.chain == chain_agreement(scores)
    assert (found.chains, found.texts) == (24, 6 * (3 + 4 + 2 + 3))
    lines = [n for n, s in enumerate(corpora.sentences) if kind == "all" or len(texts[s]) > 1]
    assert found.lines == len(lines) == (18 if kind == "all" else 12)
    for number, score in enumerate(found.corpus_scores):
        columns = [
            (corpora.sources[n], corpora.texts[number][n], refs(corpora.sentences[n], corpora.annotators[number][n]))
            for n in lines
        ]
        assert score == pytest.approx(scorer.score(*map(list, zip(*columns, strict=True))).score, abs=1e-12)
    assert found.scored < found.texts + 11 * found.lines


def test_given_references(m2):
    sentences = read_m2(m2)
    given = [[apply(s.source, s.edits[0])] for s in sentences]
    found = geceval.maege("green", m2, given)["green"]
    assert found.lines == 18
    assert "refs:given@" in found.data and "m2:gold.m2@" in found.data and "seed:1" in found.data


def test_bad_input(m2, tmp_path):
    with pytest.raises(TypeError, match="maege: unknown option 'orders'; the options are"):
        geceval.maege("gleu", m2, orders=3)
    for options, message in (
        ({"references": "own"}, "references must be one of 'others', 'all'"),
        ({"references": [["a"]]}, "24 sources|but 24"),
        ({"options": {"gleu": {"gold_m2": m2}}}, "no gold_m2 fits"),
        ({"min_chains": 1}, "sentence 2 has no annotator but 0"),
    ):
        with pytest.raises(ValueError, match=message):
            geceval.maege("gleu", m2, **options)
    with pytest.raises(FileNotFoundError):
        geceval.maege("gleu", tmp_path / "missing.m2")
