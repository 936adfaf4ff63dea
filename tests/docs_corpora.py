"""Small invented corpora, ratings, judgments and networks under the names that the pages in docs/ use."""

import csv
import difflib
import json
import random
import shutil
from dataclasses import replace
from pathlib import Path

import geceval
from geceval.core.files import file_sha256
from geceval.corpora.judgments import GJG15_SYSTEMS, SEEDA_SYSTEMS
from geceval.corpora.test_sets import TEST_SETS, Entry
from geceval.edits.edit import Edit, apply
from geceval.edits.ged_labels import LABELS
from geceval.edits.m2 import M2Sentence, write_m2
from geceval.scorers.some import PARTS

GUARD = ("slope", "dead_zone", "floor", "length_factor", "shorter_knee", "longer_knee")
EXAMPLE = Path(geceval.__file__).parent / "assets" / "example"
JFLEG = {"dev": 754, "test": 747}  # `geceval data build` counts the lines


def write_all() -> None:
    """Write every file into the working directory."""
    shutil.copytree(EXAMPLE, ".", dirs_exist_ok=True)
    shutil.copy("systems/strong.txt", "system.txt")
    _write_answers()
    write_multigec(Path("german"))
    sentences = [_sentence(random.Random(number)) for number in range(60)]
    for folder in ("jfleg", "cweb", "JFLEG"):
        Path(folder).mkdir(exist_ok=True)
    cweb = [f"cweb/CWEB-{kind}.{part}.m2" for kind in "GS" for part in ("dev", "test")]
    for name in ("mine.m2", "fce.train.m2", "fce.dev.m2", *cweb):
        write_m2(Path(name), sentences)
    for part, count in JFLEG.items():
        _write_jfleg("jfleg", part, sentences)
        _write_jfleg("JFLEG", part, (sentences * 13)[:count])
    _write_ratings("tmu-gfm-dataset.csv")
    judged = sentences[:12]
    write_m2(Path("official-2014.combined.m2"), judged)
    _write_seeda(Path("SEEDA"), judged)
    outputs = _outputs(GJG15_SYSTEMS, judged)
    write_gjg15(Path("GJG15"), outputs, _judgments(outputs, first=0))
    _write_gmeg(Path("GMEG"), judged)
    rows = [f"{name}\t{line}\t{len(name) / 20 + line / 99:.4f}\n" for name in SEEDA_SYSTEMS for line in range(1, 13)]
    Path("mine.tsv").write_text("system\tline\tmine\n" + "".join(rows), encoding="utf-8")
    labels = {"He goes .": True, "He gone .": False}
    rows = [json.dumps({"source": "He go .", "hypothesis": text, "label": label}) for text, label in labels.items()]
    Path("labelled.jsonl").write_text("\n".join(rows), encoding="utf-8")


def _write_answers() -> None:
    """The example's system as answers of a language model: rows in another order, columns, essays."""
    names = ("source", "reference_0", "systems/strong", "systems/minimal")
    columns = [Path(f"{name}.txt").read_text(encoding="utf-8").splitlines() for name in names]
    rows = list(zip(*columns, strict=True))
    objects = [{"id": n, "prediction": row[2], "references": [row[1]]} for n, row in enumerate(rows, start=1)]
    Path("answers.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in objects[::-1]), encoding="utf-8")
    with Path("answers.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("source", "reference", "gpt", "llama"), *rows])
    essays = [" ".join(columns[2][start : start + 8]) for start in range(0, len(rows), 8)]
    Path("essays.txt").write_text("".join(f"{text}\n" for text in essays), encoding="utf-8")


def write_conll14(path: Path) -> Entry:
    """The example corpus as the M2 file of CoNLL-2014, for which `system.txt` is an output; its entry."""
    lines = [(EXAMPLE / name).read_text(encoding="utf-8").splitlines() for name in ("source.txt", "reference_0.txt")]
    path.parent.mkdir(parents=True)
    write_m2(path, [_corrected(*pair) for pair in zip(*lines, strict=True)])
    copy = {"name": path.name, "bytes": path.stat().st_size, "sha256": file_sha256(path)}
    return replace(TEST_SETS["conll14"], sentences=len(lines[0]), files={"m2": [copy]})


def write_multigec(folder: Path, name: str = "de-merlin-{}-dev.md") -> dict[str, list[str]]:
    """The essays of `golden/multigec.json` as files of the shared task, with the output of a system; by part."""
    golden = json.loads((Path(__file__).parent / "golden" / "multigec.json").read_text(encoding="utf-8"))
    folder.mkdir(parents=True)
    for part, essays in golden["values"]["essays"].items():
        blocks = [f"### essay_id = {number}\n\n{essay}\n\n\n" for number, essay in enumerate(essays, start=1)]
        (folder / name.format(part)).write_text("".join(blocks), encoding="utf-8")
    return golden["values"]["essays"]


def _corrected(source: str, reference: str) -> M2Sentence:
    old, new = source.split(), reference.split()
    changes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    spans = [(start, end, " ".join(new[first:last])) for tag, start, end, first, last in changes if tag != "equal"]
    return M2Sentence(source, {0: [Edit(*span, "R:OTHER") for span in spans]})


def write_networks(assets: Path, real: Path, make_checkpoint, small: bool) -> None:
    """A folder like geceval/assets, with small networks in place of all (`small`) or of those not there."""
    made = {
        "encoder": lambda: make_checkpoint(1, "BertModel"),
        "impara": lambda: make_checkpoint(2),
        "impara_ged": lambda: make_checkpoint(3),
        "ged": lambda: make_checkpoint(4, "BertForTokenClassification", labels=LABELS[2]),
        "meaning": lambda: make_checkpoint(9, **{f"geceval_guard_{name}": 1.0 for name in GUARD}),
        **{f"some/{part}": lambda seed=seed: make_checkpoint(seed) for seed, part in enumerate(PARTS.values(), 5)},
    }
    if not small:
        for folder in filter(Path.is_dir, real.iterdir()):
            (assets / folder.name).symlink_to(folder)
    for name, make in made.items():
        if not (assets / name).exists():
            shutil.copytree(make(), assets / name)


def _sentence(rng: random.Random) -> M2Sentence:
    words = [rng.choice(["the", "a"]), rng.choice(["cat", "dog"]), "sit", "on", rng.choice(["mat", "school"])]
    words += [rng.choice(["the", "a"]), "dogs", "runs", *rng.choices(["the", "mat", "likes"], k=rng.randint(0, 3))]
    verbs = [Edit(2, 3, "sat", "R:VERB:TENSE"), Edit(7, 8, "run", "R:VERB:SVA")]
    return M2Sentence(" ".join(words), {0: verbs, 1: [Edit(2, 3, "sits", "R:VERB:SVA"), verbs[1]]})


def _write_jfleg(folder: str, part: str, sentences: list[M2Sentence]) -> None:
    sources = "".join(f"{sentence.source}\n" for sentence in sentences)
    for name in ("src", *(f"ref{number}" for number in range(4))):
        text = sources if name == "src" else sources.replace("sit", "sat").replace("runs", "run")
        Path(folder, f"{part}.{name}").write_text(text, encoding="utf-8")


def _write_ratings(path: str) -> None:
    """Two outputs of each of 40 sources, one of them right."""
    rows = ["source,output,grammer,fluency,meaning,system,ave_g,ave_f,ave_m\n"]
    for number in range(40):
        source = f"a dog sit on mat{' a school' * (number % 7)}"
        for verb, mean in (("sat", 4.0), ("sit", 2.0)):
            rows.append(f"{source},{source.replace('sit', verb)} {number},,,,x,{mean},{mean},{mean}\n")
    Path(path).write_text("".join(rows), encoding="utf-8")


def _outputs(systems: tuple[str, ...], judged: list[M2Sentence]) -> dict[str, list[str]]:
    """What each system makes of the sentences; `INPUT` makes nothing of them."""
    found = {}
    for place, name in enumerate(systems):
        rng = random.Random(place)
        share = 0 if name == "INPUT" else (place + 1) / len(systems)
        kept = [[edit for edit in sentence.edits[0] if rng.random() < share] for sentence in judged]
        found[name] = [apply(sentence.source, edits) for sentence, edits in zip(judged, kept, strict=True)]
    return found


def _judgments(outputs: dict[str, list[str]], first: int) -> str:
    """One annotator ranks all texts of a sentence: the more that is corrected, the better."""
    items = []
    for line in range(len(outputs["INPUT"])):
        groups: dict[str, list[str]] = {}
        for name, texts in outputs.items():
            groups.setdefault(texts[line], []).append(name)
        ranked = [(" ".join(names), 3 - ("sat" in text) - text.count("dogs run ")) for text, names in groups.items()]
        inner = "".join(f'<translation system="{names}" rank="{rank}"/>' for names, rank in ranked)
        items.append(f'<ranking-item src-id="{line + first}" user="u">{inner}</ranking-item>')
    return "".join(items)


def write_texts(folder: Path, texts: dict[str, str]) -> None:
    """Write files by their path in a folder."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def _write_seeda(folder: Path, judged: list[M2Sentence]) -> None:
    outputs = _outputs(SEEDA_SYSTEMS, judged)
    files = {f"outputs/all/{name}.txt": "\n".join(lines) + "\n" for name, lines in outputs.items()}
    for kind in ("sent", "edit"):
        files[f"data/judgments_{kind}.xml"] = f"<r>{_judgments(outputs, first=1)}</r>"
        for statistic in ("EW", "TS"):
            files[f"scores/human/{statistic}_{kind}.txt"] = "".join(f"{place / 15}\n" for place in range(15))
    edits = {f"edit_step1/annotator1/{line}.txt": _labelled(sentence) for line, sentence in enumerate(judged)}
    write_texts(folder, files | edits)


def _labelled(sentence: M2Sentence) -> str:
    """A file of SEEDA's first step: the first annotator's verb is right, the second one's wrong."""
    words = sentence.source.split()
    texts = [
        " ".join([*words[:2], f"[sit→{edits[0].correction}|{right}]", *words[3:]])
        for edits, right in zip(sentence.edits.values(), (True, False), strict=True)
    ]
    return "<Source with context>\n<t></t>\n<Correction>\n" + "".join(f"<s1>{text}</s1>\n" for text in texts)


def write_gjg15(folder: Path, outputs: dict[str, list[str]], items: str) -> Path:
    """A checkout of GJG15: invented outputs by system, and ranking items as XML."""
    files = {f"data/original/official_submissions/{name}": "\n".join(text) + "\n" for name, text in outputs.items()}
    write_texts(folder, {**files, "data/judgments.xml": f"<r>{items}</r>"})
    return folder


def _write_gmeg(folder: Path, judged: list[M2Sentence]) -> None:
    systems = ("amu", "marian", "nus", "lstm", "lstm-r", "ref0", "source", "transformer")
    outputs = _outputs(systems, judged) | {"source": [sentence.source for sentence in judged]}
    for domain in ("fce", "wiki"):
        texts = outputs | dict.fromkeys(("ref1", "ref2", "ref3"), outputs["ref0"])
        files = {f"{domain}/{name}": "\n".join(lines) + "\n" for name, lines in texts.items()}
        lines = zip(*outputs.values(), strict=True)
        rows = [",".join(str(40 * ("sat" in text) + 30) for text in line) for line in lines]
        header = ",".join(systems).replace("ref0", "ref")
        write_texts(folder, {**files, f"{domain}-segment-scores.csv": "\n".join([header, *rows]) + "\n"})
