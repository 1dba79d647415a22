"""Documents in Japanese: their letters, and where the lines of their tables break."""

from __future__ import annotations

import ctypes

import pypdfium2
import pytest

from webapp.documents.files import FORMS
from webapp.documents.page import body
from webapp.documents.parts import Document, Part, Prose, Table
from webapp.drawing import style

GRID = Table(
    "PostgreSQLのバージョン",
    ("指標", "ワークロード", "15", "16", "17", "18"),
    (
        (
            "スループットまたは時間（基準は15、×1より上は基準より良い）",
            "update_scaleup、毎秒のトランザクション数",
            "×1.000 基準",
            "×1.031 (1.028 … 1.035) 24個中、良い22個",
            "×1.065 (1.061 … 1.068) 良い24個",
            "×1.106 (1.102 … 1.110) 良い24個",
        ),
    ),
    (False, False, True, True, True, True),
)


def document(*parts: Part) -> Document:
    return Document("定点観測", parts, language="ja")


def pdf_of(*parts: Part) -> bytes:
    return FORMS["pdf"].written(document(*parts), "report")


def fonts_in(pdf: bytes) -> set[str]:
    """The type faces of a PDF's texts, without the prefix of a subset."""
    names = set()
    for page in pypdfium2.PdfDocument(pdf):
        for text in page.get_objects(filter=[pypdfium2.raw.FPDF_PAGEOBJ_TEXT]):
            name = ctypes.create_string_buffer(100)
            pypdfium2.raw.FPDFFont_GetBaseFontName(pypdfium2.raw.FPDFTextObj_GetFont(text), name, len(name))
            names.add(name.value.decode().rpartition("+")[2])
    return names


@pytest.mark.skipif(not style.noto_fonts(), reason="Noto Sans CJK is not installed")
def test_bold_japanese_in_a_pdf_is_bold_and_code_has_letters_of_one_width() -> None:
    fonts = fonts_in(pdf_of(Prose("本文、**太字**\n\n```\n# 測定\n```")))
    assert {"Noto-Sans-CJK-JP", "Noto-Sans-CJK-JP-Bold", "Noto-Sans-Mono-CJK-JP"} <= fonts


def test_no_line_of_a_table_begins_with_a_sign_that_may_not_and_no_number_is_broken() -> None:
    (page,) = pypdfium2.PdfDocument(pdf_of(GRID))
    lines = page.get_textpage().get_text_bounded().split()
    assert [line for line in lines if line[0] in "、。）"] == []
    for whole in ("update_scaleup、", "×1.000", "基準", "24個中、良い22個", "良い24個"):
        assert any(whole in line for line in lines), whole


def test_words_of_a_table_are_broken_only_where_they_have_no_room() -> None:
    assert '<div class="scroll whole" id="table-1">' in body(document(GRID))
    path = "/usr/lib/postgresql/18/lib/an_extension_with_a_long_name"
    wide = Table("設定", ("設定名", "16", "18"), (("archive_command", path, path),))
    assert '<div class="scroll" id="table-1">' in body(document(wide))
    many = Table("設定", tuple("0123456789"), (("×1.000",) * 10,) * 2, (True,) * 10)
    assert '<div class="scroll whole" id="table-1">' in body(document(many))


def test_japanese_beside_a_number_stays_together_and_pandoc_reads_it() -> None:
    assert '<td class="num">×1.000 <span>基準</span></td>' in body(document(GRID))
    assert '<th scope="col" class="num">18</th>' in body(document(GRID))


def test_lines_of_a_japanese_text_follow_each_other_without_a_blank() -> None:
    text = "測定しています。\nこのレポートは、\n*例*です。\n\nOne line\nand another."
    shown = body(document(Prose(text)))
    assert "<p>測定しています。このレポートは、<em>例</em>です。</p>" in shown
    assert "<p>One line\nand another.</p>" in shown
