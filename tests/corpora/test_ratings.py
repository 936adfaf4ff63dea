import pytest

from geceval.core.errors import InputError
from geceval.corpora.ratings import Rating, rated_pairs, read_tmu_gfm


def test_pairs_are_ordered_by_the_mean_of_grammaticality_and_fluency():
    ratings = [
        Rating("s", "a", 3.0, 2.0, 4.0),
        Rating("s", "b", 2.0, 3.5, 1.0),
        Rating("s", "c", 2.5, 2.5, 1.0),  # as good as a
        Rating("t", "a", 1.0, 1.0, 1.0),
    ]
    assert sorted(rated_pairs(ratings)) == [("s", "a", "b"), ("s", "c", "b")]
    assert len(rated_pairs(ratings, limit=1)) == 1


def test_there_must_be_a_pair():
    ratings = [Rating("s", "a", 3.0, 2.0, 4.0), Rating("s", "b", 2.0, 3.5, 1.0)]
    assert rated_pairs(ratings, gap=0.25) == [("s", "a", "b")]
    with pytest.raises(InputError, match="no two outputs of one source are rated differently, by at least 0.3"):
        rated_pairs(ratings, gap=0.3)


def test_the_last_rating_of_an_output_counts():
    ratings = [Rating("s", "a", 1, 1, 1), Rating("s", "b", 2, 2, 2), Rating("s", "a", 3, 3, 3)]
    assert rated_pairs(ratings) == [("s", "b", "a")]


def test_the_published_file(shared_data):
    ratings = read_tmu_gfm(shared_data / "tmu-gfm/tmu-gfm-dataset.csv")
    # Counts of the data set as published: rows, sources, distinct (source, output).
    assert len(ratings) == 4221
    assert len({rating.source for rating in ratings}) == 1378
    assert len({(rating.source, rating.output) for rating in ratings}) == 4217
    assert sum(rating.grammaticality for rating in ratings) / 4221 == pytest.approx(3.198, abs=5e-4)
    assert sum(rating.fluency for rating in ratings) / 4221 == pytest.approx(3.088, abs=5e-4)


HEADER = "source,output,ave_g,ave_f,ave_m\na,b,1,2,3\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("source,output,ave_g\na,b,1\n", "no column 'ave_f'"),
        *[(f"{HEADER}a,c,1,{mean},3\n", "line 3: a mean rating is no number") for mean in ("", "nan", "inf")],
        (HEADER + "a,c,1\n", "line 3: 3 columns, expected 5"),
        (HEADER + "a,c,1,2,3,4,5\n", "line 3: 7 columns, expected 5"),
        (HEADER.encode() + b"\xe9,c,1,2,3\n", "line 3: not valid UTF-8"),
        (HEADER + "a" * 200_000 + ",c,1,2,3\n", "line 3: not CSV"),
    ],
    ids=lambda value: value[-20:] if isinstance(value, str) else None,
)
def test_files_of_another_kind_are_refused_with_the_line(content, message, tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=f"ratings.csv.*{message}"):
        read_tmu_gfm(path)


def test_a_byte_order_mark_and_windows_line_ends_do_not_matter(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_bytes(b"\xef\xbb\xbfsource,output,ave_g,ave_f,ave_m\r\na,b,1,2,3\r\n")
    assert read_tmu_gfm(path) == [Rating("a", "b", 1.0, 2.0, 3.0)]
