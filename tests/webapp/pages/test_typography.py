"""Japanese pages have no blanks beside their punctuation; what is no sentence keeps them."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from results import reports
from results.reports import Text
from webapp.reports.blocks import Shelf
from webapp.reports.publishing import publish
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
        ('<td class="mono pre"># 変えます。\nsysctl</td>。 次', '<td class="mono pre"># 変えます。\nsysctl</td>。次'),
        ('<p class="finds">一行目。\n二行目</p>', '<p class="finds">一行目。\n二行目</p>'),
        ("式、 <code>f（x） （y</code>、 z", "式、<code>f（x） （y</code>、z"),
        ("、" + " " * 200_000, "、" + " " * 200_000),  # takes minutes where steps grow with the square
        ("。 " * 50_000 + "次", "。" * 50_000 + "次"),
    ],
    ids=range(17),
)
def test_blanks_beside_japanese_punctuation_are_closed_up(html: str, shown: str) -> None:
    assert closed_up(html) == shown


@pytest.mark.django_db
def test_a_page_in_japanese_is_closed_up_and_has_its_length(client: Client) -> None:
    answer = client.get("/trends/", HTTP_ACCEPT_LANGUAGE="ja")
    page = answer.content.decode()
    assert closed_up(page) == page and "。" in page
    assert int(answer["Content-Length"]) == len(answer.content)


@pytest.mark.django_db
def test_a_file_is_the_same_whatever_its_reader_reads(client: Client) -> None:
    source = "## 目的\n\n見出し） **太字** （x"
    text = Text("Title", "Ada\nGrace", "en", source)
    report = reports.create(text, user=None, actor="tests")
    publish(report.drafts.get(), Shelf("http://testserver", timezone.now()), user=None, actor="tests")
    address = f"/reports/{report.pk}/1/report.html"
    assert client.get(address).content == client.get(address, HTTP_ACCEPT_LANGUAGE="ja").content
