"""Rankings with all that the file says of them."""

from __future__ import annotations

import pytest

from geceval.meta.judgments.appraise import Ranking, read_rankings

OUTPUTS = {"A": ["x", "y"], "B": ["x", "z"]}


def read(tmp_path, text):
    path = tmp_path / "j.xml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_rankings(path, OUTPUTS, first_line=1)


def test_attributes(tmp_path):
    text = (
        '<a><b><ranking-item src-id="1" id="7" user="u" duration="01:02:03.5"><translation system="A B" rank="2"/>'
        '</ranking-item><ranking-item src-id="2" skipped="true"/></b></a>'
    )
    assert read(tmp_path, text) == [
        Ranking(0, 1, "7", "u", 3723.5, False, ((("A", "B"), 2),)),
        Ranking(1, 2, "", "", None, True, ()),
    ]


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE a [<!ENTITY b "xx"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>',
        '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
    ],
)
def test_document_types_are_refused(tmp_path, text):
    with pytest.raises(ValueError, match="j.xml: it has a document type"):
        read(tmp_path, text)


@pytest.mark.parametrize("text", ["", "<a>", b"<a>\xff</a>", b"<a>\x00</a>", "<a>&b;</a>", '<?xml encoding="x"?><a/>'])
def test_broken_xml(tmp_path, text):
    with pytest.raises(ValueError, match="j.xml: not valid XML"):
        read(tmp_path, text)
