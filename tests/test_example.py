"""The example corpus: parallel, tokenised, and of systems that differ as its README says."""

from pathlib import Path

import pytest

import geceval

EXAMPLE = Path(geceval.__file__).parent / "assets" / "example"
FILES = sorted(EXAMPLE.rglob("*.txt"))
SYSTEMS = {"strong", "minimal", "overcorrect", "meaning", "unchanged"}


def lines(name):
    return (EXAMPLE / f"{name}.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_each_file_is_parallel_and_tokenised(path):
    sentences = path.read_text(encoding="utf-8").splitlines()
    assert len(sentences) == 44
    for sentence in sentences:
        assert sentence == " ".join(sentence.split())
        assert sentence.isascii()
        assert sentence.split()[-1] in {".", "!", "?"}


def test_systems_are_what_the_readme_says():
    assert {path.stem for path in (EXAMPLE / "systems").glob("*.txt")} == SYSTEMS
    source, references = lines("source"), [lines("reference_0"), lines("reference_1")]
    assert lines("systems/unchanged") == source
    assert sum(len({*row}) == 1 for row in zip(source, *references, strict=True)) == 4  # correct as they are
    assert sum(one != other for one, other in zip(*references, strict=True)) >= 30  # annotators differ

    def right(system):
        return sum(text in row for text, *row in zip(lines(f"systems/{system}"), *references, strict=True))

    assert right("strong") > 30 > right("minimal") > right("unchanged") == 4
    assert right("overcorrect") == right("meaning") == 0


def test_the_readme_lists_every_file():
    readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    for path in FILES:
        assert f"`{path.relative_to(EXAMPLE)}`" in readme
