"""Building data sets from small folders in which something is wrong: one clear error, and nothing written."""

import re

import pyarrow as pa
import pytest
from corpora.test_judgments import ranking, xml

from geceval.corpora.build import build
from geceval.corpora.folder import Config, write_folder
from geceval.corpora.judgments import GJG15_SYSTEMS, SEEDA_SYSTEMS

HEAD = "source,output,grammer,fluency,meaning,system,ave_g,ave_f,ave_m\n"


@pytest.fixture
def checkout(tmp_path):
    """A SEEDA of three sentences, all right but small; every system but T5 left the sentences as they are."""
    folder = tmp_path / "checkout"
    for name in SEEDA_SYSTEMS:
        lines = ["one", "two", "three"] if name != "T5" else ["one !", "two", "three !"]
        write(folder / f"outputs/all/{name}.txt", "\n".join(lines))
        write(folder / f"outputs/subset/{name}.txt", "\n".join(lines[:2]))
    for kind in ("sent", "edit"):
        rankings = ranking(1, ("PIE BART", 2), ("T5", 1)), ranking(2, ("PIE", 1))
        write(folder / f"data/judgments_{kind}.xml", xml(*rankings))
        for statistic in ("EW", "TS"):
            write(folder / f"scores/human/{statistic}_{kind}.txt", "0.5\n" * 15)
    return folder


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.fixture
def fails(tmp_path):
    """Build what must fail; the message. Nothing may be left beside what was there."""

    def fails(name, folder, error=ValueError, **options):
        before = sorted(tmp_path.iterdir())
        with pytest.raises(error) as found:
            build(name, folder, tmp_path / "out", **options)
        assert sorted(tmp_path.iterdir()) == before
        return str(found.value)

    return fails


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("data/judgments_sent.xml", xml(ranking(0, ("T5", 1))), "there is no sentence -1"),
        ("data/judgments_sent.xml", xml(ranking(2, ("PIE T5", 1)), ranking(3, ("PIE T5", 1))), "ranking 1: PIE and T5"),
        ("outputs/all/PIE.txt", "one\ntwo", "PIE.txt has 2 lines but .*INPUT.txt has 3"),
        ("outputs/all/PIE.txt", b"one\ntwo\n\xe9", "PIE.txt, line 3: not valid UTF-8"),
        ("scores/human/EW_sent.txt", "0.5\n" * 14, "EW_sent.txt: 14 scores, expected 15"),
    ],
)
def test_seeda(checkout, fails, file, content, message):
    write(checkout / file, content)
    assert re.search(message, fails("seeda", checkout))


def test_a_small_seeda_is_not_the_published_one(checkout, fails):
    assert "2 rankings, but the published file has 600" in fails("seeda", checkout)


@pytest.mark.parametrize("file", ["outputs/all/PIE.txt", "data/judgments_sent.xml"])
def test_missing_files_are_named(checkout, fails, file):
    (checkout / file).unlink()
    assert file.rpartition("/")[2] in fails("seeda", checkout, FileNotFoundError)


def test_gjg15_counts_from_0(tmp_path, fails):
    for name in GJG15_SYSTEMS:
        write(tmp_path / f"g/data/original/official_submissions/{name}", "one\n" + ("!" if name == "RAC" else "two\n"))
    write(tmp_path / "g/data/judgments.xml", xml(ranking(1, ("AMU RAC", 1))))
    assert "AMU and RAC share a rank but wrote different texts for sentence 1" in fails("gjg15", tmp_path / "g")


def test_jfleg(tmp_path, fails):
    folder = tmp_path / "j"
    for fold in ("dev", "test"):
        for name in ("src", "ref0", "ref1", "ref2", "ref3"):
            write(folder / f"{fold}.{name}", "a b\nc d\n")
    assert "dev.src: 2 sentences, but the published file has 754" in fails("jfleg", folder)
    write(folder / "dev.ref2", "a b\n")
    assert "dev.ref2 has 1 line but" in fails("jfleg", folder)
    write(folder / "dev.ref3", b"a\n\xff\n")
    (folder / "dev.ref2").unlink()
    assert "dev.ref2" in fails("jfleg", folder, FileNotFoundError)


def test_m2(tmp_path, fails):
    folder = tmp_path / "c"
    write(folder / "official-preprocessed.m2", "S a b\nA 0 9|||X|||c|||REQUIRED|||-NONE-|||0\n")
    assert "official-preprocessed.m2, line 2: offsets 0 9 lie beyond" in fails("conll13", folder)
    write(folder / "official-preprocessed.m2", "S a b\n")
    assert "1 sentences, but the published file has 1,381" in fails("conll13", folder)
    assert "CWEB-G.dev.m2" in fails("cweb", folder, FileNotFoundError)
    write(folder / "fce-train.json", '{"id": 1, "text": "a", "edits": []}\n')
    assert "fce-train.json: 1 essays, but the published file has 2,116" in fails("fce", folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEAD.replace("grammer", "grammar"), "expected the columns source, output, grammer"),
        (HEAD, "0 rows, but the published file has 4,221"),
        (HEAD + 'a,b,"1,1,1,1,1","1,1,1,1,1","1,1,1,1,1",gpt,1,1,1\n', "line 2: unknown system 'gpt'"),
        (HEAD + 'a,b,"1,1,1,1","1,1,1,1,1","1,1,1,1,1",smt,1,1,1\n', "line 2, grammer: expected five ratings"),
        (HEAD + 'a,b,"1,1,1,1,5","1,1,1,1,1","1,1,1,1,1",smt,1,1,1\n', "line 2, grammer: expected five ratings"),
        (HEAD + 'a,b,"1,1,1,1,x","1,1,1,1,1","1,1,1,1,1",smt,1,1,1\n', "line 2, grammer: a rating or an average"),
        (HEAD + 'a,b,"1,1,1,1,1","1,0,0,3,0","1,1,1,1,1",smt,1,1.9,1\n', "line 2, fluency: the average of 1,0,0,3,0"),
        (HEAD + 'a,b,"0,0,0,0,0","1,1,1,1,1","1,1,1,1,1",smt,0,1,1\n', "line 2, grammer: the average"),
    ],
)
def test_tmu_gfm(tmp_path, fails, content, message):
    write(tmp_path / "t/tmu-gfm-dataset.csv", content)
    assert message in fails("tmu_gfm", tmp_path / "t")


def test_options_that_a_data_set_does_not_take(tmp_path, fails):
    assert "choose one of seeda, gjg15" in fails("bea", tmp_path)
    assert "jfleg takes no --gold-m2; seeda and gjg15 do" in fails("jfleg", tmp_path, gold_m2="x.m2")


def test_the_target_is_left_alone(tmp_path, checkout):
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine.txt").write_text("keep", encoding="utf-8")
    with pytest.raises(ValueError, match="full exists and is no empty folder"):
        build("seeda", checkout, tmp_path / "full")
    with pytest.raises(ValueError, match="exists and is no empty folder"):
        build("seeda", checkout, tmp_path / "full/mine.txt")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        build("seeda", checkout, tmp_path / "nowhere/out")
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine.txt"]


def test_nothing_is_half_written(tmp_path):
    good = Config("a", pa.schema([("x", pa.int8())]), {"test": [{"x": 1}]})
    bad = Config("b", pa.schema([("x", pa.int8())]), {"test": [{"x": 1000}]})
    with pytest.raises(ValueError, match="1000"):
        write_folder(tmp_path / "out", [good, bad], "card")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "out").mkdir()
    write_folder(tmp_path / "out", [good], "card")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["README.md", "a"]
