"""Uploads and typed texts of any content: taken as they are, or refused in one sentence."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

PIECES = ["a b", "\n", "\r\n", " ", "\x00", "é", "<b>", "\ufeff", "PK"]
TEXT = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
DATA = st.one_of(TEXT.map(str.encode), TEXT.map(lambda t: t.encode("utf-16")), st.binary(max_size=30))


@given(DATA, DATA, DATA)
@example(b"a " * 500, b"", b"")
@example(b"a\n" * 2000, b"", b"")
@example(b"a" * (3 << 20), b"", b"")
def test_uploads(space, tmp_path_factory, source, system, reference):
    import guard
    import uploads

    folder = tmp_path_factory.mktemp("uploads")
    paths = [folder / f"{name}.txt" for name in ("source", "<img src=x onerror=alert(1)>", "reference")]
    for path, data in zip(paths, (source, system, reference), strict=True):
        path.write_bytes(data)
    first, second, third = map(str, paths)
    try:
        texts = [[uploads.uploaded(path) for path in own] for own in ([first], [second, second], [third])]
        corpus = uploads.fit_together(*texts)
    except guard.Refused as error:
        assert str(error) and "\n" not in str(error) and str(folder) not in str(error)
        return
    rows = [corpus.sources, *corpus.systems.values(), corpus.references]
    assert len(corpus.systems) == 2 and len({len(row) for row in rows}) == 1


@given(st.one_of(st.text(max_size=30), st.none(), st.integers(), TEXT))
def test_typed_texts(space, text):
    import guard
    import render

    for check in (guard.check_text, guard.check_sentence):
        try:
            found = check("the source", text)
        except guard.Refused as error:
            assert "\n" not in str(error)
        else:
            assert found == " ".join(text.split())
    try:
        assert all(line == " ".join(line.split()) for line in guard.check_references(text))
    except guard.Refused as error:
        assert "\n" not in str(error)
    assert not re.search(r"[<>\"'`{}]", render.escape(text).replace("&#x27;", ""))


@given(st.one_of(st.text(max_size=30), st.integers(), TEXT.map(lambda text: f"## one\n{text}\n## two\n{text}")))
@example("## one\n## one\n")
@example("x" * (3 << 20))
def test_pasted_texts(space, text):
    import guard
    import uploads

    try:
        texts = uploads.pasted(text, "system")
    except guard.Refused as error:
        assert str(error) and "\n" not in str(error)
        return
    names = [each.name for each in texts]
    assert len(set(names)) == len(names) and all(each.lines for each in texts)
