"""One bar for all that is done, as lines where standard error is no terminal."""

from geceval.core.progress import bar, counting, parts, track


def lines(capsys):
    return capsys.readouterr().err.replace("geceval: ", "").splitlines()


def test_a_bar_says_what_is_done_and_how_much_of_the_whole_has_been(capsys):
    with bar(True):
        for metric in parts(["impara", "gleu"]):
            for _ in parts(["strong", "weak"], lambda system, metric=metric: f"{metric}, {system}"):
                if metric == "impara":
                    assert list(track(range(4), 4, "texts", shown=True)) == [0, 1, 2, 3]  # shows no bar of its own
    assert lines(capsys) == [
        *("  0% impara, strong", " 12% impara, strong", " 25% impara, strong", " 25% impara, weak"),
        *(" 38% impara, weak", " 50% impara, weak", " 50% gleu, strong", " 75% gleu, weak", "100%"),
    ]


def test_a_part_that_is_counted_twice_never_goes_back(capsys):
    with bar(True, "errant"):
        for _ in range(2):
            with counting("edits", 2, shown=False) as advance:
                advance()
                advance()
    assert lines(capsys) == [" 50% errant", "100% errant"]


def test_nothing_follows_the_line_that_says_it_is_done(capsys):
    with bar(True):
        for _ in parts(["strong"], str):
            list(track([1], 1, "texts", shown=False))
            for _ in parts(["first", "second"], str):  # as where all was read ahead
                pass
    assert lines(capsys) == ["  0% strong", "100% strong"]


def test_without_a_bar_around_it_there_is_one_where_it_is_asked_for(capsys):
    assert list(track(["a", "b"], 2, "texts", shown=False)) == ["a", "b"]
    assert lines(capsys) == []
    assert list(track(["a", "b"], 2, "texts", shown=True)) == ["a", "b"]
    assert lines(capsys) == [" 50% texts", "100% texts"]


def test_a_bar_goes_when_what_it_shows_fails(capsys):
    try:
        with bar(True, "errant"):
            for _ in parts(["strong"], str):
                raise ValueError
    except ValueError:
        pass
    list(track([1], 1, "texts", shown=False))
    assert lines(capsys) == ["  0% errant, strong"]
