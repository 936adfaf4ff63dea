"""Human judgments of system outputs: rankings, scores of systems, and the sets of systems that papers use."""

from dataclasses import dataclass, field

from geceval.core.errors import InputError

Groups = tuple[tuple[tuple[str, ...], int], ...]

_LEFT_OUT = {"base": {"INPUT", "REF-F", "GPT-3.5"}, "+INPUT": {"REF-F", "GPT-3.5"}, "+fluency": {"INPUT"}, "all": set()}


@dataclass(frozen=True, slots=True)
class Item:
    """One annotator's ranking of outputs for the sentence of an index; a group wrote the same text, rank 1 is best."""

    sentence: int
    annotator: str
    groups: Groups


@dataclass(frozen=True, slots=True)
class HumanData:
    """Outputs of several systems, and the human judgments of them.

    Attributes:
        name: `"seeda"`, `"gjg15"` or `"gmeg"`.
        sources: One string per sentence.
        lines: 0-based line of each sentence in the CoNLL-2014 test set; its number among the rated ones for GMEG.
        outputs: System to its outputs, one string per sentence, in the canonical order of systems.
        judgments: Name of a judgment set (`"sent"`, `"edit"`; `"all"` for GJG15; `"fce"`, `"wiki"`) to its items.
        scores: Name of a human ranking (`"ts_sent"`, `"ew"` …) to system to score.
        references: One list per sentence if the data has references of its own.
        domains: Name of a human ranking to the sentences that it is of; all sentences where it is not named.
    """

    name: str
    sources: list[str]
    lines: list[int]
    outputs: dict[str, list[str]]
    judgments: dict[str, list[Item]]
    scores: dict[str, dict[str, float]]
    references: list[list[str]] = field(default_factory=list)
    domains: dict[str, list[int]] = field(default_factory=dict)


def system_set(data: HumanData, name: str = "base") -> list[str]:
    """The systems of a named set, in canonical order.

    Args:
        data: The data; all but SEEDA have the set `"all"` alone: the literature uses all 13 systems of GJG15.
        name: `"base"` (without INPUT, REF-F and GPT-3.5), `"+INPUT"`, `"+fluency"` or `"all"`.

    Raises:
        ValueError: If there is no such set.
    """
    sets = _LEFT_OUT if data.name == "seeda" else {"all": set()}
    if name not in sets:
        raise InputError(f"{data.name} has no system set {name!r}; choose one of {', '.join(sets)}")
    return [system for system in data.outputs if system not in sets[name]]
