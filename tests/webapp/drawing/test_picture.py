"""Figures drawn on the server have what the page's have, and what a figure needs that stands alone."""

from __future__ import annotations

import io
import json
import re
import warnings
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure as Canvas
from PIL import Image

from results.domain.errors import TeitenError
from webapp.charts.medians import Line, Marker, Replicate, medians_figure
from webapp.charts.rows import as_rows
from webapp.charts.style import MARKS, PALETTE, Figure, layout, or_words
from webapp.drawing import style
from webapp.drawing.axes import draw_axes, plain
from webapp.drawing.files import draw
from webapp.drawing.picture import Picture
from webapp.drawing.style import SHAPES, colour, dash, shape_named
from webapp.drawing.traces import draw_trace, marker_of
from webapp.drawing.wrapping import Ruler

pytestmark = pytest.mark.filterwarnings("error")
XS = ("1", "4", "16", "64")


def line(name: str, index: int, medians: tuple[float, ...], **more: Any) -> Line:
    markers = [
        Marker(x, m, (Replicate(m * 0.98, 10 * index + x, 0), Replicate(m * 1.02, 10 * index + x + 100, 1)), **more)
        for x, m in enumerate(medians)
    ]
    return Line(name, index, tuple(markers))


def figure_of(lines: list[Line], xs: tuple[str, ...] = XS, dimension: str = "clients") -> Figure:
    options: dict[str, Any] = {"unit": "tps", "y_title": "Transactions per second", "link": "/trials/{}/"}
    return medians_figure(xs, lines, x_dimension=dimension, trial_url=int, **options)


LINES = [line("16.14", 0, (900, 3000, 8000, 12000)), line("18.1", 1, (950, 3300, 8800, 14000))]
PICTURE = Picture(
    title="Transactions per second by clients 定点観測",
    figure=figure_of(LINES),
    key=[(0, "16.14"), (1, "18.1")],
    caption="Two cores, 3 replicates.",
    source="Teiten, run 21",
    facts={"trials": [1, 2]},
    link="https://teiten.example/trials/{}/",
)


def words_of(svg: bytes) -> list[str]:
    """The texts of a drawing, which stand as comments beside their letters."""
    parser = ET.XMLParser(target=ET.TreeBuilder(insert_comments=True))
    root = ET.fromstring(svg, parser=parser)
    return [(one.text or "").strip() for one in root.iter() if one.tag is ET.Comment]


def test_a_drawing_says_what_it_shows_in_words() -> None:
    words = words_of(draw(PICTURE))
    for text in (PICTURE.title, "16.14", "18.1", "clients", "Transactions per second (tps)", *XS, "10,000"):
        assert text in words
    assert PICTURE.caption in words
    assert PICTURE.source in words


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_every_value_stands_where_it_was_measured(shape: Any) -> None:
    axes = Canvas().add_subplot()
    for trace in PICTURE.figure["data"]:
        draw_trace(axes, trace, shape, None)
    drawn = [tuple(map(float, offset)) for marks in axes.collections for offset in marks.get_offsets()]
    for one in LINES:
        for marker in one.markers:
            for replicate in marker.replicates:
                assert (float(XS[marker.x]), pytest.approx(replicate.value)) in drawn
        medians = [drawn_line.get_ydata() for drawn_line in axes.lines]
        assert [marker.median for marker in one.markers] in [list(map(float, line)) for line in medians]


def test_a_figure_of_rows_has_its_names_from_the_top() -> None:
    names = ("a long name of a configuration", "another one that is as long")
    figure = as_rows(figure_of([line("heap", 0, (5, 6)), line("zheap", 1, (7, 8))], names, "installation"), names, 2)
    axes = Canvas().add_subplot()
    for trace in figure["data"]:
        draw_trace(axes, trace, SHAPES["page"], None)
    draw_axes(axes, figure["layout"], SHAPES["page"], 600)
    assert axes.get_ylim() == (1.5, -0.5)
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "a long name of a\nconfiguration",
        "another one that is as\nlong",
    ]


def test_a_gap_is_not_drawn_across() -> None:
    one = replace(line("16.14", 0, (900, 3000, 8000)), gaps=(2,))
    one = replace(one, markers=tuple(replace(m, x=x) for m, x in zip(one.markers, (0, 1, 3), strict=True)))
    axes = Canvas().add_subplot()
    for trace in figure_of([one])["data"]:
        draw_trace(axes, trace, SHAPES["page"], None)
    (drawn,) = axes.lines
    assert [str(float(y)) for y in drawn.get_ydata()] == ["900.0", "3000.0", "nan", "8000.0"]
    assert len(axes.patches) == 2  # the band on either side of it


def test_intervals_are_drawn_as_long_as_they_are() -> None:
    one = Line("18.1", 1, (Marker(0, 1.1, (), low=1.0, high=1.3),))
    axes = Canvas().add_subplot()
    for trace in figure_of([one], ("64",))["data"]:
        draw_trace(axes, trace, SHAPES["page"], None)
    (segment,) = next(one for one in axes.collections if isinstance(one, LineCollection)).get_segments()
    assert [float(y) for _, y in segment] == pytest.approx([1.0, 1.3])


def test_bars_are_stacked_and_stand_where_their_base_says() -> None:
    bar = {"type": "bar", "orientation": "h", "y": [0, 1], "marker": {"color": "var(--s2) 78%"}}
    axes = Canvas().add_subplot()
    for values in ([1.0, 2.0], [3.0, None], [4.0, 5.0]):
        draw_trace(axes, bar | {"x": values}, SHAPES["page"], None)
    patches: list[Any] = list(axes.patches)
    ends = [(patch.get_y() + patch.get_height() / 2, patch.get_x(), patch.get_width()) for patch in patches]
    assert ends == [(0, 0, 1), (1, 0, 2), (0, 1, 3), (0, 4, 4), (1, 2, 5)]
    axes = Canvas().add_subplot()
    draw_trace(axes, bar | {"x": [1.0, 2.0], "base": [7.0, 8.0]}, SHAPES["page"], None)
    drawn: list[Any] = list(axes.patches)
    assert [patch.get_x() for patch in drawn] == [7, 8]


def test_what_is_not_known_is_refused() -> None:
    axes = Canvas().add_subplot()
    for trace in ({"type": "heatmap"}, {"type": "scatter", "fill": "tozeroy"}, {"type": "bar"}):
        with pytest.raises(ValueError, match="not drawn"):
            draw_trace(axes, trace, SHAPES["page"], None)
    with pytest.raises(TeitenError, match="no figure as 'gif'"):
        draw(PICTURE, "gif")
    with pytest.raises(TeitenError, match="no shape 'poster'"):
        shape_named("poster")


def test_no_value_is_said_in_words() -> None:
    empty = {"data": [], "layout": layout(300)}
    assert "No trial has a value." in words_of(draw(replace(PICTURE, figure=or_words(empty, "No trial has a value."))))


def test_the_same_figure_is_the_same_file() -> None:
    for form in ("svg", "png", "pdf"):
        assert draw(PICTURE, form) == draw(PICTURE, form)


def test_a_slide_has_the_shape_of_a_screen() -> None:
    assert Image.open(io.BytesIO(draw(PICTURE, "png", SHAPES["slide"]))).size == (2560, 1440)


def test_every_file_carries_its_provenance() -> None:
    facts = json.dumps(PICTURE.facts, separators=(",", ":"))
    svg = ET.fromstring(draw(PICTURE))
    assert facts in [one.text for one in svg.iter("{http://purl.org/dc/elements/1.1/}description")]
    png = Image.open(io.BytesIO(draw(PICTURE, "png")))
    assert (png.info["Description"], png.info["Source"]) == (facts, PICTURE.source)
    assert b"/Keywords" in draw(PICTURE, "pdf")


def test_marks_link_to_their_trials() -> None:
    svg = draw(PICTURE).decode()
    for trial in (0, 3, 100, 113):
        assert f'href="https://teiten.example/trials/{trial}/"' in svg
    assert "href" not in draw(replace(PICTURE, link="")).decode().replace('xlink:href="#', "")


def test_in_a_print_without_colours_no_two_series_look_alike() -> None:
    looks = [(marker_of(MARKS[index]), str(dash(index, SHAPES["print"]))) for index in range(PALETTE)]
    assert all(one != other for one, other in combinations(looks, 2))
    neighbours = [str(dash(index, SHAPES["print"])) for index in range(4)]
    assert len(set(neighbours)) == 4


def test_colours_are_those_of_the_light_page() -> None:
    assert colour("var(--s1)") == ("#d55e00", 1.0)
    assert colour("var(--s1) 62%") == ("#d55e00", 0.62)
    assert colour("rgba(0,0,0,0)") == ("none", 0.0)


def test_every_letter_has_a_face() -> None:
    """matplotlib warns of a letter that none of its faces has."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(replace(PICTURE, caption="図表 テーブル × ≥ µ − … ¥ 定点観測"), "png")


def fonts_of(svg: bytes) -> set[str]:
    """The type faces whose outlines are in a drawing."""
    return set(re.findall(r'id="([A-Za-z]+(?:-Bold|-Regular)?)-[0-9a-f]+"', svg.decode()))


def fonts_in(pdf: bytes) -> set[str]:
    """The type faces that are named in a PDF, without the prefix of a subset."""
    return {name.decode() for name in re.findall(rb"/BaseFont\s*/[A-Z]{6}\+([\w-]+)", pdf)}


JAPANESE = replace(PICTURE, title="定点観測の図", caption="帯は最小値から最大値まで")


@pytest.mark.skipif(not style.noto_fonts(), reason="Noto Sans CJK is not installed")
def test_japanese_has_the_distributions_letters_in_both_weights() -> None:
    draw(JAPANESE, "pdf")  # which has others, and leaves them to itself
    assert fonts_of(draw(JAPANESE)) == {"DejaVuSans", "NotoSansCJKjp-Bold", "NotoSansCJKjp-Regular"}


def test_where_the_distribution_has_none_japanese_has_teitens_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "noto_fonts", lambda: ())
    assert fonts_of(draw(JAPANESE)) == {"DejaVuSans", "IPAexGothic"}


def test_japanese_in_a_pdf_has_letters_that_every_reader_takes() -> None:
    assert fonts_in(draw(JAPANESE, "pdf")) == {"DejaVuSans", "IPAexGothic"}


def test_lines_are_no_wider_than_they_may_be() -> None:
    ruler = Ruler()
    text = "Transactions per second by clients, for each version, 定点観測は毎年行う測定であり図の説明はここに書く " * 4
    lines = ruler.wrapped(text, 11, 300)
    assert all(ruler.width(one, 11) <= 300 for one in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_no_line_begins_or_ends_with_a_sign_that_may_not() -> None:
    """Where Japanese lines break: no line begins with 。 or ）, none ends with （."""
    ruler = Ruler()
    for width in range(60, 200, 10):
        for one in ruler.wrapped("線は中央値、帯は反復の（最小値から最大値まで）の範囲です。tps、p99。" * 3, 9, width):
            assert one[0] not in "、。）" and one[-1] != "（"
        for one in ruler.wrapped("比は×1.014〜1.054、値は1、2、…、3ヶ月ごとの測定！ 速いか？ 遅いか？" * 3, 9, width):
            assert one[0] not in "〜…、！？ヶ"


def test_plotlys_little_html_is_read() -> None:
    assert plain("<b>a &lt; b</b><br>c") == "a < b\nc"


def test_a_name_with_dollars_is_no_formula() -> None:
    words = words_of(draw(replace(PICTURE, title=r"cost $1 and $2 of $\foo$", key=[(0, "$a$"), (1, "b")])))
    assert r"cost $1 and $2 of $\foo$" in words and "$a$" in words


def test_a_figure_that_is_too_high_says_so() -> None:
    high = PICTURE.figure | {"layout": PICTURE.figure["layout"] | {"height": 60_000}}
    with pytest.raises(TeitenError, match="60,000 px high"):
        draw(replace(PICTURE, figure=high))
