"""The signature names every setting, in order, and cannot be misread; each changes it: tests/test_modules.py."""

from dataclasses import dataclass

from geceval import __version__
from geceval.core.signature import signature


@dataclass(frozen=True)
class Settings:
    beta: float = 0.5
    types: tuple[str, ...] = ()
    strict: bool = True
    model: str | None = None


def test_settings_facts_and_version_in_this_order():
    text = signature("toy", Settings(types=("M", "R")), model="bundled@1a2b3c4", references=2)
    wanted = f"toy|beta:0.5|types:M,R|strict:yes|model:bundled@1a2b3c4|references:2|geceval:{__version__}"
    assert text == wanted


def test_separators_in_values_are_escaped():
    one = signature("toy", Settings(model="a|b:c\\d\n"))
    assert r"|model:a\|b\:c\\d |" in one
    # a path that looks like further fields does not pass for them
    assert one != signature("toy", Settings(model="a"), b="c")
