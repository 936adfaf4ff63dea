"""The bundled spaCy pipeline, the script that trains it, and the figures on its card."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import spacy

import pipeline_figures
import pipeline_trees

ROOT = Path(__file__).resolve().parents[1]
BUNDLE = ROOT / "src/geceval/assets/pipeline"

# form lemma UPOS XPOS head label; heads count from 1, as in CoNLL-U.
TREES = [
    """She she PRON PRP 4 nsubj
has have AUX VBZ 4 aux
been be AUX VBN 4 cop
ill ill ADJ JJ 0 root
for for ADP IN 6 case
weeks week NOUN NNS 4 obl
. . PUNCT . 4 punct""",
    """The the DET DT 2 det
lamps lamp NOUN NNS 4 nsubj:pass
were be AUX VBD 4 aux:pass
switched switch VERB VBN 0 root
off off ADP RP 4 compound:prt
by by ADP IN 8 case
my my PRON PRP$ 8 nmod:poss
sister sister NOUN NN 4 obl:agent
's 's PART POS 8 case
. . PUNCT . 4 punct""",
    """We we PRON PRP 4 nsubj
do do AUX VBP 4 aux
not not PART RB 4 advmod
want want VERB VB 0 root
to to PART TO 6 mark
stop stop VERB VB 4 xcomp
before before SCONJ IN 8 mark
reaching reach VERB VBG 6 advcl
it it PRON PRP 8 obj""",
]
LABELS = [
    "nsubj aux ROOT acomp prep pobj punct",
    "det nsubjpass auxpass ROOT prt prep poss pobj case punct",
    "nsubj aux neg ROOT aux xcomp prep advcl dobj",
]

M2 = """S She have two cat .
A 1 2|||R:VERB:SVA|||has|||REQUIRED|||-NONE-|||0
A 3 4|||R:NOUN:NUM|||cats|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

S He went to school in very the morning .
A 5 6|||U:NOUN|||-NONE-|||REQUIRED|||-NONE-|||0
A 0 1|||R:PRON|||They|||REQUIRED|||-NONE-|||1
A 3 5|||R:OTHER|||university at|||REQUIRED|||-NONE-|||1
"""


@pytest.fixture(scope="module")
def nlp():
    return spacy.load(BUNDLE)


def write_ewt(folder: Path, copies: int = 3) -> Path:
    """Writes the sentences above as all three splits, with one multi-word token and one empty node."""
    folder.mkdir(exist_ok=True)
    blocks = []
    for tree in TREES:
        lines = ["# text = ignored", "2-3\tdonot" + "\t_" * 8, "3.1\tghost" + "\t_" * 8]
        for number, line in enumerate(tree.splitlines(), 1):
            form, lemma, pos, tag, head, label = line.split(" ")
            lines.append("\t".join([str(number), form, lemma, pos, tag, "_", head, label, "_", "_"]))
        blocks.append("\n".join(lines))
    for split in ("train", "dev", "test"):
        path = folder / f"en_own-ud-{split}.conllu"
        path.write_text("\n\n".join(blocks * copies) + "\n\n", encoding="utf-8")
    return folder


def parse(nlp, sentence: str):
    return nlp(spacy.tokens.Doc(nlp.vocab, words=sentence.split()))


def test_bundle_is_small_and_names_itself(nlp):
    size = sum(path.stat().st_size for path in BUNDLE.rglob("*") if path.is_file())
    assert size <= 8_000_000
    assert (nlp.meta["name"], nlp.meta["version"]) == ("geceval_en_ewt", "0.1.0")
    assert nlp.meta["license"] == "CC BY-SA 4.0"
    assert nlp.pipe_names == ["tok2vec", "tagger", "morphologizer", "parser", "trainable_lemmatizer"]


def test_bundle_carries_no_training_words(nlp):
    # Labels and pieces of lemmas only; "mosque" is a word of EWT whose lemma needs no piece of its own.
    assert "mosque" not in nlp.vocab.strings
    assert "auxpass" in nlp.vocab.strings


def test_labels_are_those_that_errant_reads(nlp):
    labels = set(nlp.get_pipe("parser").labels)
    read = {"ROOT", "acomp", "advmod", "amod", "aux", "auxpass", "det", "dobj", "nsubj", "nsubjpass", "pobj"}
    assert labels >= read | {"poss", "prep", "prt", "punct"}
    assert not {label for label in labels if ":" in label} and not labels & {"case:pass", "cop", "obl", "root"}


def test_every_tag_is_known_to_errant(nlp):
    from errant.en.classifier import pos_map

    assert set(nlp.get_pipe("tagger").labels) <= set(pos_map)


PARSED = {  # sentence to tags, lemmas and labels
    "The letters were written by my friends .": """DT NNS VBD VBN IN PRP$ NNS .
the letter be write by my friend .
det nsubjpass auxpass ROOT prep poss pobj punct""",
    "She turned the lamp off .": """PRP VBD DT NN RP .
she turn the lamp off .
nsubj ROOT det dobj prt punct""",
    "She will be happy in my brother 's house .": """PRP MD VB JJ IN PRP$ NN POS NN .
she will be happy in my brother 's house .
nsubj aux ROOT acomp prep poss poss case pobj punct""",
    "They discussed their wishes and the cities of bigger men": """PRP VBD PRP$ NNS CC DT NNS IN JJR NNS
they discuss their wish and the city of big man
nsubj ROOT poss dobj cc det conj prep amod pobj""",
}


@pytest.mark.parametrize("sentence", PARSED)
def test_sentences_that_matter_to_errant(nlp, sentence):
    rows = [[token.tag_, token.lemma_, token.dep_] for token in parse(nlp, sentence)]
    assert [" ".join(column) for column in zip(*rows, strict=True)] == PARSED[sentence].splitlines()


def test_empty_and_odd_documents_parse(nlp):
    assert len(parse(nlp, "")) == 0
    for sentence in ("?", "👍 👍", "word " * 300, "A" * 500):
        assert all(token.tag_ and token.pos_ and token.dep_ and token.lemma_ for token in parse(nlp, sentence))


def test_card_shows_the_figures_of_its_run():
    metrics = json.loads((BUNDLE / "metrics.json").read_text(encoding="utf-8"))
    card = (BUNDLE / "README.md").read_text(encoding="utf-8")
    rows = {cells[0]: cells[1:] for line in card.splitlines() if len(cells := line.strip("| ").split(" | ")) > 4}
    assert set(metrics["ewt"]) == {"dev", "test"}
    for split, row in metrics["ewt"].items():
        assert [float(cell) for cell in rows[split]] == list(row.values())
    files = {f"CWEB-{corpus}.{split}.m2" for corpus in "GS" for split in ("dev", "test")}
    assert set(metrics["cweb"]) == files | {"all", "probe"}
    for name, row in metrics["cweb"].items():
        assert [float(cell) for cell in rows[name]] == list(row.values())
    assert "license: cc-by-sa-4.0" in card and "$" not in card


def test_agreement_on_cweb_matches_the_card(nlp, shared_data):
    sample = shared_data / "cweb" / pipeline_figures.PROBE_FILE
    if not sample.is_file():
        pytest.skip("CWEB is not on this machine")
    counts = pipeline_figures.agreement(nlp, sample, pipeline_figures.PROBE_ANNOTATOR, pipeline_figures.PROBE_SENTENCES)
    expected = json.loads((BUNDLE / "metrics.json").read_text(encoding="utf-8"))["cweb"]["probe"]
    # Another processor rounds differently and may tip single words: half a percent is 2 sentences or 3 edits.
    assert pipeline_figures.shares(counts) == pytest.approx(expected, abs=0.5)


def test_agreement_counts_edits_by_hand(nlp, tmp_path):
    # Annotator 0 of sentence 1: both edits found again. Of sentence 2: the span, but ERRANT says U:ADV. Annotator 1 of
    # sentence 2: R:PRON is found; "school in" -> "university at" is split in two by ERRANT.
    path = tmp_path / "own.m2"
    path.write_text(M2, encoding="utf-8")
    agreement = pipeline_figures.agreement
    assert agreement(nlp, path) == {"sentences": 3, "same_spans": 2, "edits": 5, "same_types": 3}
    assert agreement(nlp, path, annotator=1) == {"sentences": 1, "same_spans": 0, "edits": 2, "same_types": 1}
    assert agreement(nlp, path, limit=1) == {"sentences": 1, "same_spans": 1, "edits": 2, "same_types": 2}


def test_trees_are_relabelled_and_copulas_raised(tmp_path):
    read = pipeline_trees.read_trees(write_ewt(tmp_path, copies=1), "train")
    docs = [pipeline_trees.gold_doc(spacy.blank("en").vocab, tree) for tree in read]
    assert [" ".join(token.dep_ for token in doc) for doc in docs] == LABELS
    # "been" heads "She", "has", "ill" and the final mark; "weeks" stays with "ill".
    assert [token.head.text for token in docs[0]] == ["been", "been", "been", "been", "weeks", "ill", "been"]
    assert [word.label for word in read[0]][:3] == ["nsubj", "aux", "cop"]


@pytest.mark.slow
def test_script_trains_measures_and_writes_a_bundle(tmp_path):
    data = write_ewt(tmp_path / "ewt", copies=12)
    (tmp_path / "CWEB-G.dev.m2").write_text(M2, encoding="utf-8")
    script = str(ROOT / "training/train_pipeline.py")
    places = ["--data", str(data), "--cweb", str(tmp_path)]
    command = [sys.executable, script, *places, "--output", str(tmp_path / "out"), "--epochs", "1"]
    subprocess.run(command, check=True, capture_output=True)
    metrics = json.loads((tmp_path / "out/metrics.json").read_text(encoding="utf-8"))
    assert metrics["settings"]["epochs"] == 1 and not (tmp_path / "out.partial").exists()
    assert f"| test | {metrics['ewt']['test']['TAG']:.2f} |" in (tmp_path / "out/README.md").read_text(encoding="utf-8")
    trained = spacy.load(tmp_path / "out")
    assert "switched" not in trained.vocab.strings
    assert set(trained.get_pipe("tagger").labels) >= {"POS", "RP", "VBN"}
    assert all(token.tag_ and token.lemma_ for token in parse(trained, "The sister switched off the lamps"))
    command = [sys.executable, script, "evaluate", str(tmp_path / "out"), *places]
    again = subprocess.run(command, check=True, capture_output=True)
    assert json.loads(again.stdout) == {group: metrics[group] for group in ("ewt", "cweb")}
