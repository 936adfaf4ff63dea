"""Uploads of any content: taken as they are, or refused in one sentence."""

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
    import limits
    import uploads

    folder = tmp_path_factory.mktemp("uploads")
    paths = [folder / f"{name}.txt" for name in ("source", "<img src=x onerror=alert(1)>", "reference")]
    for path, data in zip(paths, (source, system, reference), strict=True):
        path.write_bytes(data)
    first, second, third = map(str, paths)
    try:
        texts = [[uploads.uploaded(path) for path in own] for own in ([first], [second, second], [third])]
        corpus = uploads.fit_together(*texts)
    except limits.Refused as error:
        assert str(error) and "\n" not in str(error) and str(folder) not in str(error)
        return
    rows = [corpus.sources, *corpus.systems.values(), corpus.references]
    assert len(corpus.systems) == 2 and len({len(row) for row in rows}) == 1
