"""Japanese pages have no blanks beside their punctuation; what is no sentence keeps them."""

from __future__ import annotations

import pytest
from django.test import Client

from webapp.typography import closed_up


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("<p>一つ目です。\n  二つ目です。</p>", "<p>一つ目です。二つ目です。</p>"),
        ("<a>41</a>、\n <a>40</a>", "<a>41</a>、<a>40</a>"),
        ("<b>左：</b>\n <a href='/'>22</a>", "<b>左：</b><a href='/'>22</a>"),
        ("測定 （見積もり）", "測定（見積もり）"),
        ("<p>終わりです。 </p>\n<p>次です。</p>", "<p>終わりです。 </p>\n<p>次です。</p>"),
        ("実行 41, 40. More", "実行 41, 40. More"),
        ('<input value="a、 b（ c">', '<input value="a、 b（ c">'),
        ('<input value="x （y）">', '<input value="x （y）">'),
        ('<i title="、 a、 b"></i>、 c', '<i title="、 a、 b"></i>、c'),
        ('、 <i title="、 b">、 c</i>', '、<i title="、 b">、c</i>'),
        ("<textarea>打った。 まま （x）</textarea>。 次", "<textarea>打った。 まま （x）</textarea>。次"),
        ("<pre>出力： 生</pre><script>「。 」</script>", "<pre>出力： 生</pre><script>「。 」</script>"),
        ("、" + " " * 200_000, "、" + " " * 200_000),  # takes minutes where steps grow with the square
        ("。 " * 50_000 + "次", "。" * 50_000 + "次"),
    ],
    ids=range(14),
)
def test_blanks_beside_japanese_punctuation_are_closed_up(html: str, shown: str) -> None:
    assert closed_up(html) == shown


@pytest.mark.django_db
def test_a_page_in_japanese_is_closed_up_and_has_its_length(client: Client) -> None:
    answer = client.get("/trends/", HTTP_ACCEPT_LANGUAGE="ja")
    page = answer.content.decode()
    assert closed_up(page) == page and "。" in page
    assert int(answer["Content-Length"]) == len(answer.content)
