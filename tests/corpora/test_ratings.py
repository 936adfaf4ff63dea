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


def test_files_of_another_kind_are_refused_with_the_line(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("source,output,ave_g\na,b,1\n")
    with pytest.raises(ValueError, match="no column 'ave_f'"):
        read_tmu_gfm(path)
    header = "source,output,ave_g,ave_f,ave_m\na,b,1,2,3\n"
    for row in ("a,c,1,,3\n", "a,c,1,nan,3\n", "a,c,1,inf,3\n"):
        path.write_text(header + row)
        with pytest.raises(ValueError, match="ratings.csv, line 3: a mean rating is no number"):
            read_tmu_gfm(path)
    for row, cells in (("a,c,1\n", 3), ("a,c,1,2,3,4,5\n", 7)):
        path.write_text(header + row)
        with pytest.raises(ValueError, match=f"ratings.csv, line 3: {cells} columns, expected 5"):
            read_tmu_gfm(path)
    path.write_bytes(header.encode() + b"\xe9,c,1,2,3\n")
    with pytest.raises(ValueError, match="ratings.csv, line 3: not valid UTF-8"):
        read_tmu_gfm(path)
    path.write_text(header + "a" * 200_000 + ",c,1,2,3\n")
    with pytest.raises(ValueError, match="ratings.csv, line 3: not CSV"):
        read_tmu_gfm(path)


def test_a_byte_order_mark_and_windows_line_ends_do_not_matter(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_bytes(b"\xef\xbb\xbfsource,output,ave_g,ave_f,ave_m\r\na,b,1,2,3\r\n")
    assert read_tmu_gfm(path) == [Rating("a", "b", 1.0, 2.0, 3.0)]
