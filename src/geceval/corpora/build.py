"""`build`: convert a data set as its authors publish it to a folder for `datasets.load_dataset`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from geceval.core.errors import InputError
from geceval.corpora import judgments, parallel, ratings
from geceval.corpora.card import data_card
from geceval.corpora.folder import Config, check_target, write_folder
from geceval.corpora.sources import SOURCES

_PLAIN: dict[str, Callable[[Path], list[Config]]] = {
    "conll13": parallel.build_conll13,
    "conll14": parallel.build_conll14,
    "jfleg": parallel.build_jfleg,
    "cweb": parallel.build_cweb,
    "wi_locness": parallel.build_wi_locness,
    "tmu_gfm": ratings.build_tmu_gfm,
}
_JUDGED = {"seeda": judgments.build_seeda, "gjg15": judgments.build_gjg15}


def build(
    name: str,
    folder: str | Path,
    target: str | Path,
    *,
    gold_m2: str | Path | None = None,
    nlp: str = "bundled",
    workers: int = 1,
) -> list[Config]:
    """Convert a data set as its authors publish it to a folder for `datasets.load_dataset`."""
    if name not in SOURCES:
        raise InputError(f"there is no data set {name!r}; choose one of {', '.join(SOURCES)}")
    if gold_m2 is not None and name not in _JUDGED:
        raise InputError(f"{name} takes no --gold-m2; {' and '.join(_JUDGED)} do")
    if (nlp != "bundled" or workers != 1) and name != "fce":
        raise InputError(f"{name} takes neither --nlp nor --workers; fce does")
    folder, target = Path(folder), Path(target)
    check_target(target)
    if name in _JUDGED:
        configs = _JUDGED[name](folder, None if gold_m2 is None else Path(gold_m2))
    elif name == "fce":
        configs = parallel.build_fce(folder, nlp, workers)
    else:
        configs = _PLAIN[name](folder)
    write_folder(target, configs, data_card(name, configs))
    return configs
