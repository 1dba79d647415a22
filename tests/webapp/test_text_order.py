"""Lists stand in the order of what is shown."""

from __future__ import annotations

from results.queries.shared.facets import Facet
from webapp.chooser import by_title, title
from webapp.text_order import by_text


def test_letters_stand_without_regard_to_case_and_accents() -> None:
    assert by_text(["pgpool-II", "TOAST", "Ärger", "Append", "single", "2 rows"]) == [
        "2 rows",
        "Append",
        "Ärger",
        "pgpool-II",
        "single",
        "TOAST",
    ]


def test_kana_stand_as_in_a_dictionary() -> None:
    ordered = ["WAL", "あい", "アクセス", "サーバ", "さい", "サンプル", "データ", "バックエンド", "ハッシュ", "はやい"]
    assert by_text(reversed(ordered)) == ordered


def test_kanji_stand_after_kana_and_common_ones_by_their_readings() -> None:
    ordered = ["待ち", "大きさ", "構成", "実行", "測定", "一意", "部分"]
    assert by_text(ordered) == ["一意", "構成", "実行", "測定", "待ち", "大きさ", "部分"]
    assert by_text(["一意", "ワーカー", "ア"]) == ["ア", "ワーカー", "一意"]


def test_what_is_in_no_japanese_standard_stands_last() -> None:
    assert by_text(["\U0001f418", "部分", "–", "z"]) == ["z", "部分", "–", "\U0001f418"]


def test_a_rank_goes_before_the_text() -> None:
    assert by_text(["b", "a", "C"], rank=lambda text: text == "a") == ["b", "C", "a"]


def test_dimensions_stand_by_what_they_are_called_and_factors_first() -> None:
    names = {"version": False, "setting.bgwriter_delay": True, "clients": True, "access_method": True, "agent": False}
    facets = [Facet(name, (("1", 1), ("2", 1)), varies=True, factor=factor) for name, factor in names.items()]
    facets.append(Facet("a", (("1", 1),), varies=False, factor=True))
    assert [title(facet.name) for facet in by_title(facets)] == [
        "access method",
        "bgwriter_delay",
        "clients",
        "agent",
        "version",
        "a",
    ]
