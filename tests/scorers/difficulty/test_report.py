"""The table of chunks."""

from __future__ import annotations

from geceval.edits.edit import Edit
from geceval.edits.gotoscorer_chunks import cut
from geceval.scorers.difficulty.report import chunk_table


def test_the_table_of_chunks():
    text = chunk_table([cut("He cat", [Edit(1, 1, "likes the", "M:VERB")]), cut("", [])], [[0, 0, 1, 1 / 3, 0], [0.5]])
    assert text == (
        "# sentence 1\n"
        "orig   |      | He   |           | cat  |\n"
        "gold   |      | He   | likes the | cat  |\n"
        "weight | 0.00 | 0.00 | 1.00      | 0.33 | 0.00\n"
        "cat    |      |      | M:VERB    |      |\n"
        "\n"
        "# sentence 2\n"
        "orig   |\n"
        "gold   |\n"
        "weight | 0.50\n"
        "cat    |\n"
    )
