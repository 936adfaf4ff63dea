"""Correct sentences with harper-py, the first suggestion of every lint: what docs/gate.md scores and gates.

`pip install harper-py==0.2.0`, then `python benchmarks/harper_outputs.py source.txt harper.txt`.
"""

from __future__ import annotations

import argparse

from geceval.core.files import read_lines, write_text
from geceval.text.tokenisers import detokenise, tokenise


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", help="file of tokenised sentences")
    parser.add_argument("output", help="file to write: prose")
    parser.add_argument("--dialect", default="AMERICAN", help="one of harper.Dialect")
    parser.add_argument("--tokens", action="store_true", help="spaCy's tokens of what changed, else the source's")
    arguments = parser.parse_args()
    from harper import Dialect, Linter

    linter = Linter(Dialect[arguments.dialect])
    outputs = []
    for source in read_lines(arguments.source):
        prose = detokenise(source)
        correction = correct(linter, prose)
        changed = tokenise(correction, "spacy-en") if correction != prose else source
        outputs.append(changed if arguments.tokens else correction)
    write_text(arguments.output, "".join(f"{output}\n" for output in outputs))


def correct(linter, text: str) -> str:
    """The text with the first suggestion of each lint, from the end on, so that earlier spans stay in place."""
    for lint in sorted(linter.lint(text), key=lambda lint: -lint.span.start):
        if lint.suggestions:
            text = linter.apply_suggestion(text, lint, lint.suggestions[0])
    return " ".join(text.split())


if __name__ == "__main__":
    main()
