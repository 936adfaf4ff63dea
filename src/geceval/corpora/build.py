"""Convert a data set as its authors publish it to a folder for `datasets.load_dataset`, with a README."""

from collections.abc import Callable, Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from geceval.core.errors import InputError
from geceval.corpora import edit_labels, judgment_tables, parallel
from geceval.corpora.catalogue import COLUMNS, DATA_SETS
from geceval.corpora.folder import Config, check_target, write_folder

_PLAIN: dict[str, Callable[[Path], list[Config]]] = {
    "conll13": parallel.build_conll13,
    "conll14": parallel.build_conll14,
    "jfleg": parallel.build_jfleg,
    "cweb": parallel.build_cweb,
    "fce": parallel.build_fce,
    "wi_locness": parallel.build_wi_locness,
    "tmu_gfm": judgment_tables.build_tmu_gfm,
    "gmeg": judgment_tables.build_gmeg,
    "seeda-edits": edit_labels.build_seeda_edits,
}
_RANKED = {"seeda": judgment_tables.build_seeda, "gjg15": judgment_tables.build_gjg15}


def build(name: str, folder: str | Path, target: str | Path, *, gold_m2: str | Path | None = None) -> list[Config]:
    """Convert a data set as its authors publish it to a folder for `datasets.load_dataset`."""
    if name not in DATA_SETS:
        raise InputError(f"there is no data set {name!r}; choose one of {', '.join(DATA_SETS)}")
    if gold_m2 is not None and name not in _RANKED:
        raise InputError(f"{name} takes no --gold-m2; {' and '.join(_RANKED)} do")
    folder, target = Path(folder), Path(target)
    check_target(target)
    if name in _RANKED:
        configs = _RANKED[name](folder, None if gold_m2 is None else Path(gold_m2))
    else:
        configs = _PLAIN[name](folder)
    write_folder(target, configs, data_card(name, configs))
    return configs


def data_card(name: str, configs: Sequence[Config]) -> str:
    """The text of the README."""
    # What is inserted is no HTML and stands in Markdown as it is.
    environment = Environment(  # noqa: S701
        loader=PackageLoader("geceval.corpora"), undefined=StrictUndefined, keep_trailing_newline=True
    )
    template = environment.get_template("data_card.md")
    return template.render(name=name, entry=DATA_SETS[name], configs=configs, notes=COLUMNS)
