"""Published results of metrics on SEEDA and GJG15, to show beside what is measured here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    """One row of a table of a paper."""

    data: str
    paper: str
    label: str
    metric: str
    values: Mapping[str, float]


COLUMNS: dict[str, dict[str, tuple[str, ...]]] = {
    "seeda": {
        "systems, SEEDA-S": ("ts_sent r", "ts_sent ρ"),
        "systems, SEEDA-E": ("ts_edit r", "ts_edit ρ"),
        "sentences, SEEDA-S": ("sent acc", "sent τ", "sent ties"),
        "sentences, SEEDA-E": ("edit acc", "edit τ", "edit ties"),
    },
    "gjg15": {
        "corpus scores, EW": ("corpus ew r", "corpus ew ρ"),
        "corpus scores, TS": ("corpus ts r", "corpus ts ρ"),
        "mean of sentences, EW": ("average ew r", "average ew ρ"),
        "mean of sentences, TS": ("average ts r", "average ts ρ"),
        "sentences": ("all acc", "all τ", "all ties"),
    },
}
"""Groups of columns of a report and their keys: a human ranking and r or ρ, or judgments and acc, τ or ties."""

_SEEDA = [key for keys in COLUMNS["seeda"].values() for key in keys if not key.endswith("ties")]
_IMPARA_GED = "Goto et al., IMPARA-GED, Table 2"
_IMPARA = "Maeda et al. (2022), IMPARA, Table 2"
_PT_M2 = "Gong et al. (2022), PT-M2, Table 5"

# System level S (r, ρ) and E (r, ρ), sentence level S (accuracy, τ) and E (accuracy, τ); 12 systems (base).
_TABLE_2 = [
    ("ERRANT", "errant", ".763 .706 .881 .895 .594 .189 .608 .217"),
    ("PT-ERRANT", "pt_errant", ".870 .797 .924 .951 .582 .165 .592 .184"),
    ("GREEN", "green", ".855 .846 .912 .965 .600 .199 .574 .148"),
    ("GLEU (counting=paper, smoothing=no)", "gleu", ".863 .846 .909 .965 .672 .343 .673 .347"),
    ("Scribendi", "scribendi", ".674 .762 .837 .888 .660 .320 .672 .345"),
    ("SOME", "some", ".932 .881 .893 .944 .778 .555 .766 .532"),
    ("IMPARA", "impara", ".939 .923 .901 .944 .753 .506 .752 .504"),
    ("IMPARA-GED, ModernBERT-large, 2 classes", "impara_ged", ".971 .930 .919 .930 .829 .658 .797 .594"),
    ("IMPARA-GED, DeBERTa-v3-large, 25 classes", "", ".945 .930 .906 .930 .801 .602 .786 .573"),
    ("IMPARA-GED, BERT-base, 4 classes", "", ".908 .902 .859 .923 .787 .574 .774 .548"),
    ("GPT-4-S", "", ".887 .860 .960 .958 .784 .567 .798 .595"),
    ("GPT-4-S + Grammaticality", "", ".888 .867 .961 .937 .796 .592 .807 .615"),
    ("GPT-4-S + Fluency", "", ".913 .874 .974 .979 .819 .637 .831 .662"),
    ("GPT-4-S + Meaning", "", ".958 .881 .911 .960 .810 .620 .813 .626"),
]
# EW (r, ρ), sentences (accuracy, τ).
_TABLE_IMPARA = [
    ("Scribendi, its paper", "scribendi", ".951 .940"),
    ("Scribendi, run again", "", ".303 .729 .414 -.170"),
    ("SOME", "some", ".956 .923 .777 .555"),
    ("IMPARA", "impara", ".974 .934 .748 .496"),
]
# EW (r, ρ), TS (r, ρ).
_TABLE_5_CORPUS = [
    ("GLEU", "gleu", ".701 .467 .750 .555"),
    ("ERRANT", "errant", ".642 .659 .688 .698"),
    ("M2", "m2", ".623 .687 .672 .720"),
    ("PT-ERRANT, BERT", "pt_errant", ".705 .780 .745 .797"),
    ("PT-M2, BERT", "pt_m2", ".693 .758 .737 .769"),
]
_TABLE_5_AVERAGE = [
    ("GLEU", "gleu", ".784 .720 .828 .775"),
    ("ERRANT", "errant", ".870 .742 .846 .747"),
    ("M2", "m2", ".871 .731 .864 .758"),
    ("BERTScore", "bertscore", ".262 .074 .166 -.022"),
    ("BARTScore", "bartscore", ".172 .253 .173 .269"),
    ("PT-ERRANT, BERT", "pt_errant", ".941 .879 .917 .846"),
    ("PT-M2, BERT", "pt_m2", ".949 .907 .938 .874"),
]


def _rows(data: str, paper: str, table: list[tuple[str, str, str]], keys: list[str]) -> list[Published]:
    return [
        Published(data, paper, label, metric, dict(zip(keys, map(float, numbers.split()), strict=False)))
        for label, metric, numbers in table
    ]


def _four(aggregation: str) -> list[str]:
    return [f"{aggregation} {ranking} {kind}" for ranking in ("ew", "ts") for kind in ("r", "ρ")]


PUBLISHED: tuple[Published, ...] = (
    *_rows("seeda", _IMPARA_GED, _TABLE_2, _SEEDA),
    *_rows("gjg15", _IMPARA, _TABLE_IMPARA, ["corpus ew r", "corpus ew ρ", "all acc", "all τ"]),
    *_rows("gjg15", _PT_M2, _TABLE_5_CORPUS, _four("corpus")),
    *_rows("gjg15", _PT_M2, _TABLE_5_AVERAGE, _four("average")),
)
