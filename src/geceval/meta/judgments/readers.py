"""Human judgments of GEC systems, read from the files that their authors published."""

from __future__ import annotations

import math
from pathlib import Path

from geceval.core.errors import InputError
from geceval.core.files import read_json, read_lines, read_parallel
from geceval.meta.judgments.appraise import read_rankings
from geceval.meta.judgments.data import HumanData, Item
from geceval.meta.judgments.folders import is_built, read_folder

SEEDA_SYSTEMS = (
    *("BART", "BERT-fuse", "GECToR-BERT", "GECToR-ens", "GPT-3.5", "INPUT", "LM-Critic", "PIE"),
    *("REF-F", "REF-M", "Riken-Tohoku", "T5", "TemplateGEC", "TransGEC", "UEDIN-MS"),
)
# In the order of their Expected Wins, which is the order that order-dependent statistics are reported in.
GJG15_SYSTEMS = ("AMU", "RAC", "CAMB", "CUUI", "POST", "UFC", "PKU", "UMC", "IITB", "SJTU", "INPUT", "NTHU", "IPN")
# Grundkiewicz et al. (2015), Table 3b (Expected Wins) and 3c (TrueSkill).
_GJG15_SCORES = {
    "ew": (0.628, 0.566, 0.561, 0.550, 0.539, 0.513, 0.506, 0.495, 0.485, 0.463, 0.456, 0.437, 0.300),
    "ts": (0.273, 0.114, 0.182, 0.105, 0.080, -0.041, -0.001, -0.022, -0.055, -0.074, -0.062, -0.142, -0.358),
}


def read_seeda(folder: str | Path) -> HumanData:
    """Read SEEDA (Kobayashi et al. 2024): 15 systems, the 391 judged sentences, edit- and sentence-based ranks.

    Args:
        folder: A checkout with `outputs/subset`, `data/judgments_*.xml` and `scores/human`.

    Raises:
        OSError: If a file is missing.
        ValueError: If the files do not fit together; the message names the file.
    """
    folder = Path(folder)
    full = read_outputs({name: folder / "outputs/all" / f"{name}.txt" for name in SEEDA_SYSTEMS})
    judgments = {
        kind: read_judgments(folder / "data" / f"judgments_{kind}.xml", full, first_line=1) for kind in ("sent", "edit")
    }
    lines = sorted({item.sentence for item in judgments["sent"]})
    for item in judgments["edit"]:
        if item.sentence not in lines:
            raise InputError(
                f"{folder / 'data/judgments_edit.xml'}: ranks sentence {item.sentence}, which judgments_sent.xml does "
                "not; both files must be of the same sentences"
            )
    index = {line: number for number, line in enumerate(lines)}
    judgments = {
        kind: [Item(index[item.sentence], item.annotator, item.groups) for item in items]
        for kind, items in judgments.items()
    }
    outputs = {name: [texts[line] for line in lines] for name, texts in full.items()}
    scores = {
        f"{statistic.lower()}_{kind}": _read_scores(folder / "scores/human" / f"{statistic}_{kind}.txt")
        for statistic in ("EW", "TS")
        for kind in ("sent", "edit")
    }
    return HumanData("seeda", outputs["INPUT"], lines, outputs, judgments, scores)


def read_gjg15(folder: str | Path) -> HumanData:
    """Read GJG15 (Grundkiewicz et al. 2015): 12 submissions to CoNLL-2014 and the input, 1,312 sentences.

    Args:
        folder: A checkout with `data/judgments.xml` and `data/original/official_submissions`.

    Raises:
        OSError: If a file is missing.
        ValueError: If the files do not fit together; the message names the file.
    """
    folder = Path(folder)
    submissions = folder / "data/original/official_submissions"
    outputs = read_outputs({name: submissions / name for name in GJG15_SYSTEMS})
    items = read_judgments(folder / "data/judgments.xml", outputs, first_line=0)
    scores = {name: dict(zip(GJG15_SYSTEMS, values, strict=True)) for name, values in _GJG15_SCORES.items()}
    sources = outputs["INPUT"]
    return HumanData("gjg15", sources, list(range(len(sources))), outputs, {"all": items}, scores)


def read_human(folder: str | Path) -> HumanData:
    """Read whichever of SEEDA and GJG15 a folder is a checkout of, or was built from by `geceval data build`.

    Raises:
        OSError: If a file is missing.
        ValueError: If it is neither, or the files do not fit together.
    """
    if is_built(folder):
        return read_folder(folder)
    if (Path(folder) / "outputs").is_dir():
        return read_seeda(folder)
    if (Path(folder) / "data/judgments.xml").is_file():
        return read_gjg15(folder)
    raise InputError(f"{folder}: neither a checkout of SEEDA (outputs/, data/) nor of GJG15 (data/judgments.xml)")


def read_system_scores(path: str | Path) -> dict[str, float]:
    """Read human scores of systems: a JSON object of names and numbers, or lines of a name and a number."""
    if str(path).endswith(".json"):
        found = read_json(path)
        if not isinstance(found, dict):
            raise InputError(f"{path}: expected a JSON object of systems and their scores")
        rows = [(f"{path}: {name}", name, score) for name, score in found.items()]
    else:
        lines = enumerate(read_lines(path), start=1)
        rows = [(f"{path}, line {number}", *_name_and_score(line)) for number, line in lines if line]
    scores: dict[str, float] = {}
    for where, name, score in rows:
        try:
            value = float(score)
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        if not math.isfinite(value):
            raise InputError(f"{where}: expected the name of a system and a finite number, got {score!r}")
        if name in scores:
            raise InputError(f"{where}: {name} has a score already")
        scores[name] = value
    return scores


def _name_and_score(line: str) -> tuple[str, str]:
    name, *score = line.rsplit(maxsplit=1)
    return name.strip(), "".join(score)


def read_judgments(path: str | Path, outputs: dict[str, list[str]], *, first_line: int) -> list[Item]:
    """Read rankings in Appraise's XML; see `read_rankings`."""
    rankings = read_rankings(path, outputs, first_line=first_line)
    items = [Item(ranking.sentence, ranking.annotator, ranking.groups) for ranking in rankings if ranking.groups]
    if not items:
        raise InputError(f"{path}: holds no ranking (ranking-item with translations)")
    return items


def read_outputs(paths: dict[str, Path]) -> dict[str, list[str]]:
    """Read the outputs of systems; one of them is `INPUT`, the sources."""
    expected = len(read_lines(paths["INPUT"]))
    return {name: read_parallel(path, paths["INPUT"], expected) for name, path in paths.items()}


def _read_scores(path: Path) -> dict[str, float]:
    try:
        values = [float(line) for line in read_lines(path) if line]
    except ValueError as error:
        raise InputError(f"{path}: expected one number per line ({error})") from error
    if len(values) != len(SEEDA_SYSTEMS):
        raise InputError(f"{path}: {len(values)} scores, expected {len(SEEDA_SYSTEMS)}")
    return dict(zip(SEEDA_SYSTEMS, values, strict=True))
