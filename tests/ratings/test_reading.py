"""Files of all formats give the ratings of the frame they hold, and faults with line numbers."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from reliabayes.choices import Shape
from reliabayes.errors import RatingsError
from reliabayes.ratings import Ratings
from reliabayes.ratings.reading import read_ratings

FRAME = pd.DataFrame(
    {
        "item": ["a", "a", "b", "b"],
        "rater": [1, 2, 1, 2],
        "rating": [1.5, 2.0, 3.0, 4.5],
        "note": ["x, y", "", 'say "so"', "two\nlines"],
    }
)

MESSY = """ad,who,score,team,truth
a,x,1,red,1
a,y,2,red,1
b,x,3,red,2
b,y,n/a,red,2

c,x,inf,red,3
c,y,99,blue,3
"d
",z,4,red,
d,x,4,red,7
d ,y,4,red,3
e,x,,red,4
,y,4,red,4
f,,4,red,1
f,x,2,red,1
f,x,2,red,2
g,y,2,,2
"""


def write(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    "name", ["r.csv", "r.csv.gz", "r.csv.bz2", "r.csv.xz", "r.csv.zip", "R.CSV", "r.txt"]
)
def test_text_files_give_the_ratings_of_their_frame(tmp_path: Path, name: str) -> None:
    FRAME.to_csv(tmp_path / name, index=False)

    assert read_ratings(tmp_path / name) == Ratings.from_frame(FRAME)


def test_zst_files_are_read(tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    FRAME.to_csv(tmp_path / "r.csv.zst", index=False)

    assert read_ratings(tmp_path / "r.csv.zst") == Ratings.from_frame(FRAME)


@pytest.mark.parametrize(("name", "delimiter"), [("r.tsv", "\t"), ("r.csv", ";"), ("r.txt", "|")])
def test_delimiters_are_inferred(tmp_path: Path, name: str, delimiter: str) -> None:
    FRAME.to_csv(tmp_path / name, index=False, sep=delimiter)

    assert read_ratings(tmp_path / name) == Ratings.from_frame(FRAME)


def test_parquet_files_are_read(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    FRAME.to_parquet(tmp_path / "r.parquet")

    assert read_ratings(tmp_path / "r.parquet") == Ratings.from_frame(FRAME)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1", "utf-16"])
def test_encodings_are_respected(tmp_path: Path, encoding: str) -> None:
    text = "item,rater,rating\ncafé,1,2\ncafé,2,3\nthé,1,4\n"
    path = write(tmp_path, "r.csv", text, encoding)

    ratings = read_ratings(path, encoding=encoding.removesuffix("-sig"))

    assert ratings.items.tolist() == ["café", "thé"]


def test_whole_numbers_become_int_unless_they_have_leading_zeros(tmp_path: Path) -> None:
    text = "item,rater,rating\n10,01,2\n10,1,3\n9,1,4\n"

    ratings = read_ratings(write(tmp_path, "r.csv", text))

    assert ratings.items.tolist() == [9, 10]
    assert ratings.raters.tolist() == ["01", "1"]


def test_words_such_as_none_and_na_are_labels(tmp_path: Path) -> None:
    text = "item,rater,rating\na,x,None\na,y,NA\nb,x,NA\n"

    ratings = read_ratings(write(tmp_path, "r.csv", text))

    assert ratings.categories.tolist() == ["NA", "None"]


def test_columns_can_be_named(tmp_path: Path) -> None:
    text = "ad,who,score,team,truth\n1,x,4,red,4\n1,y,5,blue,4\n2,x,1,red,\n"

    ratings = read_ratings(
        write(tmp_path, "r.csv", text),
        item="ad",
        rater="who",
        rating="score",
        pool="team",
        gold="truth",
    )

    assert repr(ratings) == "Ratings(3 ratings of 2 items by 2 raters in 2 pools, numeric 1..5)"


def test_a_messy_file_gives_one_error_with_every_fault_and_its_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "messy.csv", MESSY)

    with pytest.raises(RatingsError) as caught:
        read_ratings(
            path,
            item="ad",
            rater="who",
            rating="score",
            pool="team",
            gold="truth",
            scale="numeric",
            categories=range(1, 6),
        )

    found = [(fault.place, fault.rows) for fault in caught.value.faults]
    assert found == [
        ("ad", (14,)),  # missing
        ("who", (15,)),  # missing
        ("score", (13,)),  # missing
        ("team", (18,)),  # missing
        ("ad", (9, 12)),  # "d\n" and "d " beside "d"
        ("score", (5,)),  # n/a is not a number
        ("score", (7,)),  # infinite
        ("score", (8,)),  # 99 is outside 1..5
        ("truth", (11,)),  # 7 is outside 1..5
        ("truth", (17,)),  # f has gold 1 and 2
        ("team", (8,)),  # y is in red and blue
        ("ad and who", (16, 17)),  # x rated f twice
    ]
    assert "score: values must be finite; found 1 infinite (line 7: 'inf')" in str(caught.value)


def test_ratings_that_mix_numbers_and_text_ask_for_the_scale(tmp_path: Path) -> None:
    path = write(tmp_path, "r.csv", 'item,rater,rating\na,1,3\na,2, 4 \nb,1,"5,5"\nb,2,6\n')

    with pytest.raises(
        RatingsError, match=r"numbers stored as text, .* \(line 4: '5,5'\). Pass sca"
    ):
        read_ratings(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"r.csv: it must hold a header and ratings; found an empty file"),
        ("\n \n", r"r.csv: it must hold a header and ratings; found an empty file"),
        ("item,rater,rating\n", r"table: it must hold ratings; found none"),
        ("1,x,9\n1,y,8\n", r"header: the first line must name the columns; found the values '1'"),
        ("item,rater,rating\nlove, sex,x,9\n", r"each line must have as many fields as the header"),
        ("item,rater,rating\na,x,9\nb,b,x,9\n", r"Expected 3 fields in line 3, saw 4. Quote"),
        ('item,rater,rating\n"a,x,9\n', r"and all quotes must be closed"),
        ("item,rater,rating,rating\na,x,9,9\n", r"columns: .* found 'rating' more than once"),
        ("item,rater,hate\na,x,9\n", r"Say which column it is: rating=\.\.\."),
        (
            "person,i,Response\na,x,9\n",
            r"Did you mean rating='Response'\? Say also which are the others: item=.*, rater=\.",
        ),
        ("Item,coder,score\na,x,9\n", r"Did you mean item='Item', rater='coder', rating='score'"),
        ("name,J1,J2\na,5,9\na,6,7\n", r"'J1', 'J2' hold numbers .* or shape=.wide. for a"),
    ],
)
def test_files_without_a_table_of_ratings_are_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    path = write(tmp_path, "r.csv", text)

    with pytest.raises(RatingsError, match=message):
        read_ratings(path)


WIDE = "ad,ann,bob,cy\na,1,2,\nb,3,,3\nc,4,5,4\n"


@pytest.mark.parametrize(
    "text",
    [
        WIDE,
        WIDE.replace("ad,", ",", 1),
        WIDE.replace(",", ";"),
        "id,x,y\n1,yes,no\n2,no,no\n3,yes,yes\n",
        "item,x,y\na,1,2\nb,2,3\n",
        "Essay,x,y\ne1,1,2\ne2,2,3\n",  # texts that are all different
        "Essay,x,y\ne1,good,bad\ne2,bad,bad\n",
    ],
)
def test_a_table_that_is_obviously_wide_is_read_as_wide_and_a_note_says_so(
    tmp_path: Path, text: str
) -> None:
    path = write(tmp_path, "r.csv", text)

    ratings = read_ratings(path, item="ad")

    assert ratings == read_ratings(path, item="ad", shape="wide")
    assert ratings.notes[0].startswith("The table is read as wide, with a column for each of ")
    assert 'shape="long" reads one rating per row' in ratings.notes[0]


def test_a_wide_table_has_a_rating_for_each_filled_cell(tmp_path: Path) -> None:
    ratings = read_ratings(write(tmp_path, "r.csv", WIDE), item="ad")

    expected = pd.read_csv(tmp_path / "r.csv", index_col="ad")
    assert ratings == Ratings.from_wide(expected)


def test_wide_spreadsheets_are_read(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    write(tmp_path, "r.csv", WIDE)
    pd.read_csv(tmp_path / "r.csv").to_excel(tmp_path / "r.xlsx", index=False)

    assert read_ratings(tmp_path / "r.xlsx", item="ad") == Ratings.from_wide(
        pd.read_csv(tmp_path / "r.csv", index_col="ad")
    )


@pytest.mark.parametrize(
    "text",
    [
        "item,worker,score\na,1,2\na,2,2\n",  # other names of the columns of a long table
        "item,age,comment\na,31,good\nb,44,bad\n",  # columns of different kinds
        "item,weight,height\na,50,1800\nb,51,1801\n",  # numbers of different ranges
        "speech,x,y\na,1,2\na,2,3\n",  # no column of items
        "ann,bob,cy\ngood,bad,bad\nbad,bad,good\n",
    ],
)
def test_a_table_that_may_be_long_is_not_taken_for_wide(tmp_path: Path, text: str) -> None:
    with pytest.raises(RatingsError, match="the table must have the columns that were named"):
        read_ratings(write(tmp_path, "r.csv", text))


def test_columns_of_long_tables_are_refused_in_wide_ones(tmp_path: Path) -> None:
    path = write(tmp_path, "r.csv", WIDE)

    with pytest.raises(RatingsError, match=r"pool: a wide table has a column for each rater"):
        read_ratings(path, item="ad", shape="wide", pool="team")


def test_faults_of_a_wide_file_have_its_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "r.csv", WIDE.replace("5", "inf"))

    with pytest.raises(RatingsError, match=r"1 infinite \(line 4: inf\)"):
        read_ratings(path, item="ad")


LONG_WITH = "item;rater;rating\na;x;{}\na;y;{}\nb;x;3\nb;y;4\n"


def test_decimal_commas_are_read_where_all_ratings_have_them_and_a_note_says_so(
    tmp_path: Path,
) -> None:
    ratings = read_ratings(write(tmp_path, "r.csv", LONG_WITH.format("1,5", "2,25")))

    assert sorted(ratings.rating) == [1.5, 2.25, 3, 4]
    assert ratings.notes[0].startswith("The ratings are read with decimal commas")


def test_numbers_that_may_be_thousands_are_not_taken_for_decimals(tmp_path: Path) -> None:
    path = write(tmp_path, "r.csv", LONG_WITH.format("1,500", "2,250"))

    assert read_ratings(path, scale="nominal").categories.tolist() == ["1,500", "2,250", "3", "4"]
    assert sorted(read_ratings(path, decimal=",").rating) == [1.5, 2.25, 3, 4]


def test_words_that_mean_nothing_are_refused_together(tmp_path: Path) -> None:
    path = write(tmp_path, "r.csv", WIDE)

    with pytest.raises(RatingsError, match=r"decimal: it must be one of (.|\n)*shape: it must be"):
        read_ratings(path, decimal=pd.NA, shape="tall")  # type: ignore[arg-type]


def test_a_wrong_delimiter_is_reported_with_the_likely_one(tmp_path: Path) -> None:
    path = write(tmp_path, "r.tsv", "item;rater;rating\na;x;9\n")

    with pytest.raises(RatingsError, match=r"found only 'item;rater;rating'. Pass delimiter=';'"):
        read_ratings(path)


def test_files_that_cannot_be_decoded_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "r.csv", "item,rater,rating\ncafé,x,9\n", "latin-1")

    with pytest.raises(RatingsError, match=r"encoded as utf-8; found .* 0xe9 .* Pass encoding="):
        read_ratings(path)


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zip"])
def test_damaged_files_are_refused(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path, f"r.csv.{suffix}", "item,rater,rating\na,x,9\n")

    with pytest.raises(RatingsError, match=r"it must be readable to its end; found .* again\."):
        read_ratings(path)


def test_spreadsheets_are_read_and_faults_name_their_rows(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    FRAME.to_excel(tmp_path / "r.xlsx", index=False)
    FRAME.assign(rating=FRAME["rating"].where(FRAME.index != 1)).to_excel(tmp_path / "gap.xlsx")

    assert read_ratings(tmp_path / "r.xlsx") == Ratings.from_frame(FRAME)
    with pytest.raises(RatingsError, match="row 3"):
        read_ratings(tmp_path / "gap.xlsx")


@pytest.mark.parametrize("name", ["r.jsonl", "r.ndjson", "r.jsonl.gz"])
def test_json_lines_are_read(tmp_path: Path, name: str) -> None:
    FRAME.to_json(tmp_path / name, orient="records", lines=True)

    assert read_ratings(tmp_path / name) == Ratings.from_frame(FRAME)


def test_texts_of_json_lines_stay_texts(tmp_path: Path) -> None:
    lines = [
        f'{{"item": "0{i}", "rater": "2024-01-0{r}", "rating": {i}}}'
        for i in (1, 2)
        for r in (1, 2)
    ]
    (tmp_path / "r.jsonl").write_text("\n".join(lines))

    ratings = read_ratings(tmp_path / "r.jsonl")

    assert list(ratings.items) == ["01", "02"]
    assert list(ratings.raters) == ["2024-01-01", "2024-01-02"]


@pytest.mark.parametrize(
    ("name", "rule"),
    [("r.jsonl", "each line must be one JSON object"), ("r.xlsx", "it must be a spreadsheet")],
)
def test_records_of_another_format_are_refused(tmp_path: Path, name: str, rule: str) -> None:
    pytest.importorskip("openpyxl")
    path = write(tmp_path, name, "item,rater,rating\na,x,9\n")

    with pytest.raises(RatingsError, match=f"{name}: {rule}"):
        read_ratings(path)


def test_files_that_are_not_parquet_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = write(tmp_path, "r.parquet", "item,rater,rating\na,x,9\n")

    with pytest.raises(RatingsError, match=r"r.parquet: it must be a Parquet file"):
        read_ratings(path)


def test_other_formats_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "r.sav", "")

    with pytest.raises(RatingsError, match=r"found '.sav'. Rename it, or load it with pandas"):
        read_ratings(path)


def test_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="it is a folder; name a file in it"):
        read_ratings(tmp_path)


def test_windows_line_ends_keep_line_numbers(tmp_path: Path) -> None:
    path = write(tmp_path, "r.csv", "item,rater,rating\r\na,x,1\r\n\r\na,y,inf\r\nb,x,3\r\n")

    with pytest.raises(RatingsError, match=r"\(line 4: inf\)"):
        read_ratings(path)


def test_lines_without_a_rating_are_left_out_on_request(tmp_path: Path) -> None:
    path = tmp_path / "ads.csv"
    path.write_text("item,rater,rating\na,x,1\na,y,\nb,x,2\nb,y,3\nc,x,inf\n")

    with pytest.raises(RatingsError, match=r"1 missing \(line 3\).*missing=\"drop\""):
        read_ratings(path)
    with pytest.raises(RatingsError, match=r"1 infinite \(line 6: inf\)"):
        read_ratings(path, missing="drop")

    path.write_text(path.read_text().replace("inf", "4"))
    assert len(read_ratings(path, missing="drop")) == 4


def test_a_missing_file_is_reported_with_a_similar_name(tmp_path: Path) -> None:
    write(tmp_path, "ratings.csv", "")

    with pytest.raises(FileNotFoundError, match=r"no such file; did you mean 'ratings.csv'\?"):
        read_ratings(tmp_path / "rating.csv")


def test_one_text_among_numbers_is_shown_with_its_line(tmp_path: Path) -> None:
    rows = "".join(f"{i},{r},{i % 5}\n" for i in range(500) for r in "ab")
    path = write(tmp_path, "r.csv", "item,rater,rating\n" + rows + "500,a,00\n")

    with pytest.raises(RatingsError, match=r"1 not written as a plain number \(line 1002: '00'\)"):
        read_ratings(path)


@pytest.mark.parametrize("comment", ["# exported on Monday", "#version 2\n\n# of the ads"])
def test_comments_above_the_header_are_named(tmp_path: Path, comment: str) -> None:
    path = write(tmp_path, "r.csv", f"{comment}\nitem,rater,rating\n1,a,2\n1,b,3\n2,a,3\n2,b,3\n")

    with pytest.raises(RatingsError) as caught:
        read_ratings(path)

    advice, fault = str(caught.value).split("\n", maxsplit=1)
    assert advice.startswith("tidy=True would read this table: it skips ")
    assert fault.startswith("header: the first line must name the columns; found the ")
    assert "comment '#" in str(caught.value)
    assert "Remove the lines above the header." in str(caught.value)


def test_whole_numbers_beyond_the_precision_of_floats_stay_apart(tmp_path: Path) -> None:
    text = "item,rater,rating\n1,1,9007199254740992\n1,2,9007199254740993\n2,1,9007199254740992\n"

    ratings = read_ratings(write(tmp_path, "r.csv", text), scale="nominal")

    assert ratings.categories.tolist() == [2**53, 2**53 + 1]


def test_an_absent_column_does_not_hide_the_lines_of_other_faults(tmp_path: Path) -> None:
    path = write(tmp_path, "r.csv", "item,who,rating\na,x,1\na,y,\nb,x,inf\n")

    with pytest.raises(RatingsError) as raised:
        read_ratings(path)

    message = str(raised.value)
    assert "the ratings have 3 faults" in message
    assert "Did you mean rater='who'?" in message
    assert "1 missing (line 3)" in message
    assert "1 infinite (line 4: inf)" in message


@pytest.mark.parametrize("shape", ["long", "wide"])
def test_gold_that_looks_like_a_number_is_a_label_if_the_ratings_are(
    tmp_path: Path, shape: Shape
) -> None:
    texts = {
        "long": "item,rater,rating,gold\na,x,01,10\na,y,02,10\nb,x,10,10\nb,y,10,10\n",
        "wide": "item,x,y,gold\na,01,02,10\nb,10,10,10\n",
    }
    path = write(tmp_path, "r.csv", texts[shape])

    ratings = read_ratings(path, gold="gold", scale="nominal", shape=shape)

    assert ratings.categories.tolist() == ["01", "02", "10"]
    assert set(ratings.to_frame()["gold"]) == {"10"}


def test_a_row_without_item_and_rating_is_no_rating_to_ask_about(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    rows = ["item,rater,rating,day", ",x,,1", "a,x,1,1", "a,y,2,1", "b,x,2,1", "b,y,3,2"]
    file.write_text("\n".join([*rows, "c,x,1,2", "c,y,1,2"]))

    tidy, dropped = (
        read_ratings(file, facets=["day"], missing="drop", tidy=tidy) for tidy in (True, False)
    )

    assert tidy.n_missing == dropped.n_missing == 1
    assert tidy.items.tolist() == dropped.items.tolist() == ["a", "b", "c"]
