"""Labels of single edits: SEEDA's first step, of which a small one is made here, and files of a user's own."""

import json

import datasets
import pytest
from docs_corpora import write_texts

from geceval.corpora.build import build
from geceval.corpora.edit_labels import LabelledEdit, annotator_agreement, read_edit_labels
from geceval.corpora.judgments import SEEDA_SYSTEMS
from geceval.edits.edit import Edit, apply

SOURCE = "He go to school ."
FILE = """<Source with context>
It rains .
<t>He [go] to school .</t>

<Correction>
{}
"""


def marked(*corrections: str) -> str:
    return FILE.format("\n".join(f"<s{number}>{text}</s{number}>" for number, text in enumerate(corrections, start=1)))


@pytest.fixture
def checkout(tmp_path):
    """A function that writes a checkout whose systems left one sentence as it is, but for T5, and returns it."""

    def make(**files):
        texts = {f"outputs/all/{name}.txt": f"{SOURCE}\n" for name in SEEDA_SYSTEMS}
        texts["outputs/all/T5.txt"] = "He goes to the school .\n"
        names = {name: f"data/EditEval_Step1/{name.replace('_', '/')}.txt" for name in files}
        write_texts(tmp_path / "checkout", texts | {names[name]: text for name, text in files.items()})
        return tmp_path / "checkout"

    return make


def rows_of(checkout):
    from geceval.corpora.edit_labels import _read_checkout

    return _read_checkout(checkout)


def test_a_row_holds_the_edit_its_label_and_its_surroundings(checkout):
    text = marked("He [go→goes|True] to [→the|False] school .", "He go to school .")
    first, second = rows_of(checkout(annotator2_17=text))
    spans = [{"start": 1, "end": 2, "correction": "goes"}, {"start": 3, "end": 3, "correction": "the"}]
    assert first == {
        **{"annotator": "annotator2", "file": 17, "number": 1, "src_id": 0, "systems": ["T5"]},
        **{"before": "It rains .", "source": SOURCE, "after": "", "hypothesis": "He goes to the school ."},
        **{"start": 1, "end": 2, "original": "go", "correction": "goes", "label": True, "all_edits": spans},
    }
    assert (second["start"], second["end"], second["original"], second["label"]) == (3, 3, "", False)
    assert second["all_edits"] == spans


@pytest.mark.parametrize(
    ("text", "hypothesis"),
    [
        ("He [go→goes] to school .", "He goes to school ."),  # no label
        ("He [go→goes]|True to school .", "He goes to school ."),
        ("He [go→goes] |True to school .", "He goes to school ."),
        ("He [go→goe|Trues] to school .", "He goes to school ."),  # within the correction
        ("He [go|True→] to school .", "He to school ."),
        ("He [go→goes|True to school .", "He goes to school ."),  # never closed
        ("He go to [→the|False,] school .", "He go to the, school ."),
    ],
)
def test_a_malformed_edit_has_no_label_but_its_text_is_made(checkout, text, hypothesis):
    malformed, labelled = rows_of(checkout(annotator1_0=marked(text.replace(" .", " [.→!|True]"))))
    assert malformed["label"] is None and labelled["label"] is True
    assert malformed["hypothesis"] == hypothesis.replace(" .", " !")
    assert malformed["source"] == labelled["source"] == SOURCE
    (edit,) = read_edit_labels(checkout(annotator1_0=marked(text.replace(" .", " [.→!|True]"))))
    assert edit.edit == Edit(4, 5, "!") and apply(SOURCE, edit.together) == malformed["hypothesis"]


def test_a_bracket_that_touches_a_word_and_a_sentence_that_is_not_among_the_outputs(checkout):
    texts = marked("He go to school[.→!|True]", "She [go→goes|False|True] to school .")
    glued, other = rows_of(checkout(annotator1_0=texts))
    expected = {"source": SOURCE, "hypothesis": "He go to school !", "start": 4, "src_id": 0}
    assert {name: glued[name] for name in expected} == expected
    assert (other["source"], other["src_id"], other["systems"]) == ("She go to school .", None, [])
    assert (other["label"], other["correction"]) == (True, "goes")  # of two labels the last counts


def test_files_are_read_in_the_order_of_their_numbers(checkout):
    text = marked("He [go→goes|True] to school .")
    folder = checkout(annotator1_10=text, annotator1_9=text, annotator2_0=text)
    files = [("annotator1", 9), ("annotator1", 10), ("annotator2", 0)]
    assert [(row["annotator"], row["file"]) for row in rows_of(folder)] == files


def test_mistakes(checkout, tmp_path):
    with pytest.raises(ValueError, match=r"neither a checkout of SEEDA \(data/EditEval_Step1\) nor what"):
        read_edit_labels(checkout())
    with pytest.raises(ValueError, match="0.txt: not a file of SEEDA's first step"):
        read_edit_labels(checkout(annotator1_0="He [go→goes|True] to school ."))
    with pytest.raises(ValueError, match="1 labels, but the published file has 6,464"):
        build("seeda-edits", checkout(annotator1_0=marked("[He→I|True] go to school .")), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def lines(path, *rows):
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_a_file_of_one_s_own(tmp_path):
    path = lines(
        tmp_path / "mine.jsonl",
        {"source": "I like  cat.", "hypothesis": "I like cats.", "label": 1},
        {"source": "a b c", "hypothesis": "a c", "label": False},
        {"source": "a a", "hypothesis": "a a a", "label": True},
        {"source": "a b", "hypothesis": "a  b", "label": 0},
        {"source": "", "hypothesis": "a", "label": 0},
    )
    edits = read_edit_labels(path)
    # Spaces are no words: the fourth row holds an edit that changes nothing, whose gain is 0.
    spans = [(2, 3, "cats."), (1, 2, ""), (2, 2, "a"), (2, 2, ""), (0, 0, "a")]
    assert [each.edit for each in edits] == [Edit(*span) for span in spans]
    assert edits[0] == LabelledEdit("I like cat.", Edit(2, 3, "cats."), True, (Edit(2, 3, "cats."),))
    assert [each.right for each in edits] == [True, False, True, False, False]


@pytest.mark.parametrize(
    "row",
    [
        *("no JSON", "[]", '"text"', "", {"source": "a", "hypothesis": "b"}),
        *({"source": "a", "hypothesis": None, "label": 1}, {"source": "a", "hypothesis": "b", "label": "valid"}),
        *({"source": "a", "hypothesis": "b", "label": 2}, {"source": "a", "hypothesis": "b", "label": [1]}),
    ],
)
def test_a_bad_line_is_named(tmp_path, row):
    path = lines(tmp_path / "mine.jsonl", {"source": "a", "hypothesis": "b", "label": 1}, row)
    with pytest.raises(ValueError, match=r"mine.jsonl, line 2: expected source and hypothesis, texts, and label"):
        read_edit_labels(path)


def labelled(annotator: str, *labels: bool | None) -> list[LabelledEdit]:
    edits = [Edit(place, place + 1, "x") for place in range(len(labels))]
    said = [(edit, right) for edit, right in zip(edits, labels, strict=True) if right is not None]
    return [LabelledEdit("a b c d", edit, right, (edit,), annotator) for edit, right in said]


def test_agreement_of_annotators():
    # Four edits with 3, 2, 2 and 1 labels; of the pairs of labels 1 of 3, 1 of 1 and 1 of 1 are equal.
    edits = labelled("A", True, True, False, True) + labelled("B", True, True, None) + labelled("C", False, None, False)
    # Krippendorff: n = 7 pairable labels, 4 right. Observed: 2·2·1/(3-1) / 7 = 2/7; expected: 2·4·3 / (7·6) = 4/7.
    # Beside another's "right" 4 of 6 labels say so, beside "wrong" 2 of 4: an area of 7/12.
    measured = "Krippendorff's alpha 0.500; AUC of a label beside another's 0.583"
    assert annotator_agreement(edits) == f"Annotators agree on 60.0% of 3 edits ({measured})"
    assert annotator_agreement(labelled("A", True, False)) == ""
    # The edit beside other edits is another one; of two labels of one annotator the first counts.
    beside = LabelledEdit("a b c d", Edit(0, 1, "x"), False, (Edit(0, 1, "x"), Edit(1, 2, "y")), "B")
    again = LabelledEdit("a b c d", Edit(0, 1, "x"), False, (Edit(0, 1, "x"),), "A")
    assert annotator_agreement([*labelled("A", True), beside, again]) == ""


def test_published_files(shared_data, tmp_path):
    """The counts of ../shared/spec/edit-validity.md."""
    build("seeda-edits", shared_data / "seeda", tmp_path / "built")
    rows = datasets.load_dataset(str(tmp_path / "built"), split="test", cache_dir=str(tmp_path / "cache"))
    assert (len(rows), sum(rows["label"])) == (6464, 5864)
    annotators = list(rows["annotator"])
    assert [annotators.count(f"annotator{number}") for number in (1, 2, 3)] == [2106, 2108, 2250]
    read = read_edit_labels(shared_data / "seeda")
    assert read == read_edit_labels(tmp_path / "built") and len({edit.source for edit in read}) == 387
    everything = rows_of(shared_data / "seeda")
    assert sum(row["label"] is None for row in everything) == 32
    assert all(apply(edit.source, edit.together) == row["hypothesis"] for edit, row in zip(read, rows, strict=True))
    # One correction with edits is no output of a system: a word was changed by hand.
    unknown = {(row["annotator"], row["file"], row["number"]) for row in everything if not row["systems"]}
    assert unknown == {("annotator3", 59, 1)}
    card = (tmp_path / "built/README.md").read_text(encoding="utf-8")
    measured = "Krippendorff's alpha 0.440; AUC of a label beside another's 0.732"
    assert f"Annotators agree on 91.5% of 973 edits ({measured}). 32 edits whose label" in card
    assert "`annotator1/0.txt`, `annotator1/7.txt`" in card
