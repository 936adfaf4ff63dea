"""Texts of other languages are noticed while `language` is English, and English ones, whoever wrote them, are not."""

import gzip
import json

import pytest

from geceval import registry
from geceval.cli.app import run
from geceval.edits.m2 import read_m2
from geceval.text.languages import is_english

GERMAN = ["Ich habe gestern das Buch gelesen .", "Das haus ist nicht groß ."]


@pytest.mark.parametrize(
    "text",
    [
        "Ich habe das Buch nicht gelesen .",
        "Bez toho to nejde , ale já jsem tam byl .",
        "J' ai mangé une pomme dans le jardin .",
        "Ayer fui al cine con mis amigos y vi una película .",
        "Jag har inte läst boken .",
        "JAG HAR INTE LÄST BOKEN OCH DET ÄR SYND .",
        "Tôi là sinh viên năm thứ nhất ở Hà Nội .",
        "我昨天去了北京。",
        "Я не читав цю книгу .",
        "ذهبت إلى المدرسة أمس",
    ],
)
def test_other_languages(text):
    assert not is_english((text,))


@pytest.mark.parametrize(
    "text",
    [
        "He go to school .",
        "hte qick brwon fxo",
        "I ATE AT THE CAFÉ WITH MY FIANCÉE .",
        "I met my fiancée at the café and ordered crème brûlée .",
        "François Müller , José García , Ludwig van Beethoven , Karel Čapek , Jean de la Fontaine",
        "for i in range(10): print(x[i], file=out)",
        "int main(void) { return 0; }",
        "The word 学校 means school , and Москва is Moscow .",
        "😀 😀 12 34 !",
        "ＨＥＬＬＯ , Ｗｏｒｌｄ",
        "",
    ],
)
def test_english_names_and_code(text):
    assert is_english((text,))


def test_no_sentence_of_any_english_corpus_raises_an_alarm(shared_data):
    sentences = {text for path in shared_data.glob("jfleg/*") for text in path.read_text(encoding="utf-8").split("\n")}
    for pattern in ("conll201*/official*.m2", "cweb/*.test.m2", "wi-locness/A*.m2"):
        sentences.update(sentence.source for path in shared_data.glob(pattern) for sentence in read_m2(path))
    sentences.update(json.loads(line)["text"] for line in (shared_data / "fce" / "fce-dev.json").open(encoding="utf-8"))
    with gzip.open(shared_data / "ud-ewt" / "en_ewt-ud-dev.conllu.gz", "rt", encoding="utf-8") as file:
        sentences.update(line[9:] for line in file if line.startswith("# text = "))
    assert len(sentences) > 30_000
    assert [text for text in sentences if not is_english((text,))] == []


def test_every_tenth_of_every_foreign_corpus_raises_one(shared_data):
    files = [path for path in (shared_data / "languages").glob("*/*") if path.suffix != ".m2"]
    files.append(shared_data / "mucgec" / "MuCGEC_dev.txt")
    assert len(files) > 7
    for path in files:
        lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
        assert not any(is_english(tuple(lines[start : start + 10])) for start in range(0, len(lines), 10))


@pytest.mark.parametrize("metric", ["errant", "cleme", "cleme2", "pt_errant", "gotoscorer", "uot_errant"])
def test_one_warning_names_the_setting(metric, caplog):
    def warnings(sources, **settings):
        caplog.clear()
        registry.make_scorer(metric, settings).score(sources, sources, [[text] for text in sources])
        return [record.getMessage() for record in caplog.records if "language" in record.getMessage()]

    (message,) = warnings(GERMAN)
    assert message.startswith(f"{metric}: the sources are not English") and "language='any'" in message
    assert warnings(GERMAN, language="any") == warnings(["He go to school ."]) == []


@pytest.mark.parametrize("metric", ["impara", "impara_lm", "some"])
def test_one_warning_says_what_a_model_has_read(metric, caplog, make_checkpoint):
    registry.make_scorer(metric).score(GERMAN, GERMAN)
    (message,) = (message for message in caplog.messages if "not English" in message)
    assert message.startswith(f"{metric}: the sources are not English, and models that come with geceval")
    caplog.clear()
    registry.make_scorer(metric).score(["He go to school ."], ["He goes to school ."])
    own = str(make_checkpoint(3))
    registry.make_scorer("impara", {"model": own, "se_model": own}).score(GERMAN, GERMAN)
    assert not any("English" in message for message in caplog.messages)


def test_edits_that_are_given_need_no_language(tmp_path, caplog):
    (tmp_path / "gold.m2").write_text(f"S {GERMAN[1]}\nA 1 2|||ORTH|||Haus|||REQUIRED|||-NONE-|||0\n", encoding="utf-8")
    files = {"gold_m2": tmp_path / "gold.m2", "predictions_m2": tmp_path / "gold.m2"}
    registry.make_scorer("errant", files).score(GERMAN[1:], ["Das Haus ist nicht groß ."])
    assert caplog.messages == []


def test_convert_warns_too(tmp_path, capsys):
    (tmp_path / "german").write_text("\n".join(GERMAN), encoding="utf-8")
    assert run(["convert", *[str(tmp_path / "german")] * 2, "--to", "m2"]) == 0
    assert capsys.readouterr().err.count("pass language='any'") == 1
