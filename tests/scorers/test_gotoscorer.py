"""GoToScorer from texts: difficulty from systems or files, one reference or several, options, errors, signature."""

import pytest

from geceval.core.files import read_lines
from geceval.scorers.difficulty.chunk_difficulty import Difficulty, format_difficulty, type_table
from geceval.scorers.gotoscorer import Gotoscorer, Settings

# The example of test_difficulty.py, where it is worked out by hand, as texts.
SOURCES = ["He like cat ."]
GOLD = ["He likes the cat ."]
SYSTEMS = [["He likes the cat ."], ["He likes cat ."], ["He like cat ."]]
# n_correct: like 2 of 3, the 1 of 3, all else 3 of 3; weights 1/3 and 2/3
CORRECT = [[3, 3, 3, 2, 1, 3, 3, 3, 3]]

M2 = """S He like cat .
A 1 2|||SVA|||likes|||REQUIRED|||-NONE-|||0
A 2 2|||ArtOrDet|||the|||REQUIRED|||-NONE-|||0
A 2 3|||Nn|||cats|||REQUIRED|||-NONE-|||1

"""


@pytest.fixture
def gold_m2(tmp_path):
    path = tmp_path / "gold.m2"
    path.write_text(M2)
    return str(path)


def score(predictions, references=None, sources=None, **options):
    scorer = Gotoscorer(Settings(**options))
    if references is None and scorer.needs_references():
        references = GOLD
    return scorer.score(sources or SOURCES, predictions, references)


def test_difficulty_of_systems_is_what_the_file_holds(tmp_path):
    difficulty = Gotoscorer().reference_difficulty(SOURCES, SYSTEMS, GOLD).difficulty
    assert difficulty == Difficulty(3, CORRECT)
    (tmp_path / "difficulty.txt").write_text(format_difficulty(difficulty))
    from_file = score(SYSTEMS[1], difficulty=str(tmp_path / "difficulty.txt"))
    from_systems = score(SYSTEMS[1], systems=SYSTEMS)
    from_object = score(SYSTEMS[1], difficulty=difficulty)
    assert (from_systems.score, from_systems.scores) == (pytest.approx(5 / 7), [from_systems.score])  # TP 1/3, FN 2/3
    assert (from_systems.details["f1"], from_systems.details["systems"]) == (pytest.approx(1 / 2), 3)
    assert from_file.to_dict() | {"signature": ""} == from_systems.to_dict() | {"signature": ""}
    assert from_file == from_object


def test_every_system_of_a_call_takes_part_unless_difficulty_is_given():
    together = Gotoscorer().with_systems(SYSTEMS)
    assert together.score(SOURCES, SYSTEMS[1], GOLD) == score(SYSTEMS[1], systems=SYSTEMS)
    uniform = Gotoscorer(Settings(difficulty="uniform"))
    assert uniform.with_systems(SYSTEMS) is uniform
    assert Gotoscorer().with_systems(SYSTEMS[:1]).settings.systems is None


def test_without_difficulty_chunks_weigh_the_same_and_a_warning_says_so(caplog):
    plain = score(SYSTEMS[1])
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "difficulty=FILE" in caplog.text
    assert plain == score(SYSTEMS[1], difficulty="uniform")
    assert plain.score == pytest.approx(1.25 * 0.5 / 0.75)  # P 1/1, R 1/2
    assert plain.details["accuracy"] == pytest.approx(8 / 9)
    assert plain.details["systems"] == 0


def test_gold_edits_keep_the_spans_of_the_file(gold_m2):
    assert score(SYSTEMS[0], gold_m2=gold_m2, ref_id=0, systems=SYSTEMS).score == 1
    # Annotator 1 wants "cats" only: three false alarms of SYSTEMS[0], "cat" itself missed and touched at its left edge.
    details = score(SYSTEMS[0], gold_m2=gold_m2, ref_id=1, difficulty="uniform").details
    assert [details[name] for name in ("tp", "fp", "fn")] == [0, 3, 1]


def test_without_ref_id_each_sentence_takes_the_reference_that_suits_it_best():
    sources = ["He like cat .", "He like cat ."]
    references = [["He likes the cat .", "He like cats ."]] * 2
    predictions = ["He likes the cat .", "He like cats ."]
    result = score(predictions, references, sources, difficulty="uniform")
    assert result.scores == [1, 1]
    assert score(predictions, references, sources, difficulty="uniform", ref_id=0).scores == [1, 0]
    assert score(predictions, references, sources, difficulty="uniform", ref_id=1).scores == [0, 1]


def test_difficulty_is_counted_for_each_reference():
    # The first reference suits the half-right system better; each has weights of its own.
    references = [["He likes the cat .", "He like cats ."]]
    best = score(SYSTEMS[1], references, systems=SYSTEMS)
    assert best.score == pytest.approx(5 / 7)
    alone = score(SYSTEMS[1], references, systems=SYSTEMS, ref_id=1)
    # like: 1 of 3 leave it alone, weight 2/3, FP; cats: 0 of 3, weight 1, FN
    assert [alone.details[name] for name in ("tp", "fp", "fn")] == pytest.approx([0, 2 / 3, 1])


def test_missing_references_do_not_shift_ref_id():
    references = [[None, "He likes the cat ."]]
    assert score(SYSTEMS[0], references, difficulty="uniform", ref_id=1).score == 1
    for ref_id in (0, 2):
        with pytest.raises(ValueError, match=rf"references\[0\] has no reference {ref_id}"):
            score(SYSTEMS[0], references, difficulty="uniform", ref_id=ref_id)


def test_difficulty_belongs_to_one_reference(tmp_path):
    (tmp_path / "difficulty.txt").write_text(format_difficulty(Difficulty(3, CORRECT)))
    with pytest.raises(ValueError, match="sentence 1 has 2; say which one is meant, e.g. ref_id=0"):
        score(SYSTEMS[0], [["He likes the cat .", "He like cats ."]], difficulty=str(tmp_path / "difficulty.txt"))
    with pytest.raises(ValueError, match=r"difficulty\.txt, line 2: 9 counts, but .* 1 has 3 chunks"):
        score(["Yes"], ["Yes"], ["He like the cat ."], difficulty=tmp_path / "difficulty.txt")


def test_empty_sentences_have_one_place():
    result = score(["", "He likes the cat ."], ["", *GOLD], ["", *SOURCES], difficulty="uniform")
    assert (result.score, result.scores) == (1, [0, 1])
    assert result.details["tn"] == 8  # the place of the empty sentence and seven chunks of the other


def test_mistakes_of_the_caller(gold_m2, tmp_path):
    for systems, message in (
        ([["a", "b"]], "1 source but 2 predictions"),
        (["He likes the cat ."], "systems must be a list of lists of strings"),
        ([], "at least one system"),
        (None, "from predictions of systems or a difficulty file"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            Gotoscorer().reference_difficulty(SOURCES, systems, GOLD)
    with pytest.raises(ValueError, match="has no annotator 7"):
        score(SYSTEMS[0], gold_m2=gold_m2, ref_id=7, difficulty="uniform")
    with pytest.raises(OSError, match="nowhere"):
        score(SYSTEMS[0], difficulty=str(tmp_path / "nowhere.txt"))


@pytest.mark.parametrize(("number", "f"), [(1, 0.8), (2, 0.2439), (3, 0.0)])
def test_demo_of_the_authors_from_plain_texts(shared_data, number, f):
    # The authors' M2 file of the systems came from ERRANT; our edits of the same texts give the same figures.
    demo = shared_data / "gotoscorer" / "demo"
    sources = read_lines(demo / "orig.txt")[:2]
    systems = [read_lines(demo / f"sys{k}.txt")[:2] for k in (1, 2, 3)]
    scorer = Gotoscorer(Settings(gold_m2=demo / "ref.m2", systems=systems))
    difficulty = Gotoscorer(Settings(gold_m2=demo / "ref.m2")).reference_difficulty(sources, systems).difficulty
    assert format_difficulty(difficulty) == (demo / "weight.txt").read_text()
    assert scorer.score(sources, systems[number - 1]).score == pytest.approx(f, abs=5e-5)
    weights = Gotoscorer(Settings(gold_m2=demo / "ref.m2", difficulty=demo / "weight.txt"))
    assert weights.score(sources, systems[number - 1]).score == pytest.approx(f, abs=5e-5)


def test_published_weights_on_conll_2014(shared_data):
    path = shared_data / "conll2014" / "official-2014.combined.m2"
    published = shared_data / "gotoscorer" / "weight_files" / "conll14_8sys.txt"
    sources = [line[2:] for line in read_lines(path) if line.startswith("S ")]
    scorer = Gotoscorer(Settings(gold_m2=path, difficulty=published, ref_id=0))
    unchanged = scorer.score(sources, sources)
    assert (unchanged.score, unchanged.details["systems"]) == (0, 8)
    # Nothing is done, so each of the 2,379 edits is missed; all weights sum up to (8 * chunks - counts) / 8.
    lines = published.read_text().splitlines()[1:]
    everything = sum(8 - int(count) for line in lines for count in line.split()) / 8
    assert unchanged.details["fn"] + unchanged.details["tn"] == pytest.approx(everything)
    rows = type_table(scorer.reference_difficulty(sources))
    assert sum(row.frequency for row in rows) == 2379
    assert sum(row.frequency * row.mean for row in rows) == pytest.approx(unchanged.details["fn"])
