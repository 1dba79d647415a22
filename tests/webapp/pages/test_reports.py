"""Reports are written, previewed, published, superseded and withdrawn; a published one never changes."""

from __future__ import annotations

import hashlib
import html
import io
import json
import re
import xml.etree.ElementTree as ET
import zipfile
from copy import deepcopy
from typing import Any

import pypdfium2
import pytest
from django.test import Client
from django.urls import reverse

from results import models, removal, reports
from results.domain.errors import StateError, TeitenError
from results.reports import Text
from tests import environments, factories
from tests.page_text import page_text
from tests.webapp.api.test_exports import has_its_letters
from webapp.documents.page import html_of
from webapp.reports import templates
from webapp.reports.blocks import KINDS
from webapp.reports.exports import FORMS
from webapp.reports.method import script
from webapp.reports.source import Block, block, pieces

pytestmark = pytest.mark.django_db


def run_in_two_versions() -> models.Run:
    made = factories.finished_run(replicates=3, standing="kept")
    rows = {"work_mem": "65536"}
    environments.run_in_versions(made, v16=environments.layers(16, rows=rows), v18=environments.layers(18, rows=rows))
    return made


@pytest.fixture(scope="module", autouse=True)
def made(kept: None) -> models.Run:
    return run_in_two_versions()


@pytest.fixture
def run(made: models.Run) -> models.Run:
    return deepcopy(made)


def text(run: models.Run, **changes: str) -> dict[str, str]:
    source = "\n\n".join(
        [
            "## Purpose 目的",
            "Is 18 faster? *Perhaps.*",
            block("comparison", query=f"run={run.pk}"),
            block("environment", query=f"run={run.pk}"),
            block("method", run=run.pk),
        ]
    )
    return {
        "title": "PostgreSQL 18 定点観測",
        "authors": "Ada\nWorking Group 1",
        "language": "ja",
        "source": source,
    } | changes


@pytest.fixture
def report(run: models.Run) -> models.Report:
    return reports.create(Text(**text(run)), user=None, actor="tests")


def preview(member: Client, source: str) -> str:
    sent = {"title": "t", "authors": "a", "language": "en", "source": source}
    answer = member.post(reverse("reports:preview"), sent)
    assert answer.status_code == 200
    return answer.content.decode()


def publish(member: Client, report: models.Report) -> models.Edition:
    report.refresh_from_db()
    answer = member.post(reverse("reports:publish", args=[report.pk]), {"version": report.version})
    assert answer.status_code == 302, page_text(answer)
    return report.editions.latest("number")


def test_a_report_begins_with_what_its_runs_say(member: Client, run: models.Run) -> None:
    for kind, chosen in templates.KINDS.items():
        sent = {"title": chosen.title, "kind": kind, "language": "en", "runs": str(run.pk)}
        answer = member.post(reverse("reports:new"), sent, follow=True)
        page = page_text(answer)
        for heading in ("Purpose", "Configuration", "Method", "Results", "Discussion", "Summary"):
            assert heading in page
        assert "cannot be shown" not in page, kind
        assert "18.1 is faster" in page and "AMD EPYC" in page and f"drawn with seed {run.seed}" in page


def test_a_japanese_report_has_the_sections_of_the_working_group(member: Client, run: models.Run) -> None:
    sent = {"title": "t", "kind": "observation", "language": "ja", "runs": str(run.pk)}
    page = page_text(member.post(reverse("reports:new"), sent, follow=True))
    assert all(heading in page for heading in ("目的", "構成", "方法", "結果", "考察", "まとめ"))


def test_findings_are_proposed_from_verdicts(member: Client, run: models.Run) -> None:
    member.post(reverse("reports:new"), {"title": "t", "kind": "observation", "language": "en", "runs": str(run.pk)})
    source = models.Draft.objects.get().source
    _, _, summary = source.partition("## Summary")
    assert "postgresql-18.1 is faster" in summary.replace("\\", "").replace("**18.1", "**postgresql-18.1")
    assert f"/compare/?run={run.pk}" in summary


@pytest.mark.parametrize(
    ("sent", "what"),
    [
        ({"title": "", "kind": "observation"}, "A report needs a title."),
        ({"title": "t", "kind": "poem"}, "There is no kind 'poem'."),
        ({"title": "t", "kind": "observation", "runs": "x"}, "'x' is not the number of a run."),
        ({"title": "t" * 201, "kind": "observation"}, "longer than 200"),
        ({"title": "t", "kind": "observation", "language": "xx"}, "There is no language 'xx'."),
    ],
)
def test_what_cannot_begin_is_said_and_nothing_is_stored(member: Client, sent: dict[str, str], what: str) -> None:
    answer = member.post(reverse("reports:new"), sent)
    assert answer.status_code == 400 and what in html.unescape(page_text(answer))
    assert not models.Report.objects.exists()


SHOWN = {
    "comparison": ("is faster", "Figure 1.", "every cell"),
    "findings": ("is faster",),
    "figure": ("Figure 1. Transactions per second by clients",),
    "table": ("Table 1. Transactions per second, every cell",),
    "versions": ("Table 1. PostgreSQL versions", "against 16"),
    "grid": ("throughput or time, against 16; above ×1 is better",),
    "environment": ("Table 1. Environment", "AMD EPYC", "16.14", "18.4"),
    "settings": ("Table 1. Settings that differ from the defaults", "<td>work_mem</td><td>64MB</td><td>64MB</td>"),
    "differences": (
        "Table 1. What differs besides the numbers",
        "<td>work_mem</td><td>64MB</td><td>4MB</td><td>matters</td>",
    ),
    "topology": ("Figure 1. Topology", "client"),
    "method": ("drawn with seed", "Factors of run", "pgbench"),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_block_shows_what_it_says(member: Client, run: models.Run, name: str) -> None:
    options: dict[str, Any] = {"query": f"run={run.pk}"}
    if name in ("method", "topology"):
        options = {"run": run.pk}
    if name in ("versions", "grid"):
        options = {}
    if name == "differences":
        environments.run_in_versions(run, v16=environments.layers(16, rows={"work_mem": "65536"}))
    shown = html.unescape(preview(member, block(name, **options)))
    assert "cannot be shown" not in shown
    assert [words for words in SHOWN[name] if words not in shown] == []


def test_a_figure_is_chosen_and_named(member: Client, run: models.Run) -> None:
    shown = preview(member, block("figure", query=f"run={run.pk}", caption="Our own words"))
    assert "Figure 1. Our own words" in shown and shown.count("<figure") == 1
    assert "There is no figure 4." in preview(member, block("figure", query=f"run={run.pk}", figure=4))


def test_a_citation_can_be_shown_in_place_of_a_query(member: Client, run: models.Run) -> None:
    citation = factories.citation(run)
    shown = preview(member, block("table", citation=citation.pk))
    assert "cannot be shown" not in shown and "Table 1." in shown


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ('```teiten comparison\nquery = "run=999999"\n```', "There is no run 999999 in this warehouse."),
        ("```teiten method\nrun = 999999\n```", "no trial that counts"),
        ("```teiten topology\ntrial = 999999\n```", "There is no trial 999999"),
        ('```teiten table\ncitation = "0123456789abcdef"\n```', "There is no citation 0123456789abcdef"),
        ("```teiten comparison\n```", "It names no comparison."),
        ("```teiten comparision\n```", "Did you mean comparison?"),
        ("```teiten comparison\nquery = 21\n```", "query is not a text in quotes."),
        ("```teiten comparison\nqeury = 'run=1'\n```", "Did you mean query?"),
        ("```teiten comparison\nquery\n```", "The block is no TOML."),
        ('```teiten comparison\nquery = "colour=red"\n```', "There is no parameter 'colour'."),
        ('```teiten versions\nquery = "colour=red"\n```', "has no 'colour'"),
    ],
)
def test_a_block_that_cannot_be_shown_says_why_and_where(member: Client, source: str, what: str) -> None:
    shown = preview(member, f"Before.\n\n{source}\n\nAfter.")
    assert what in html.unescape(shown)
    assert "Line 3" in shown
    assert "Before." in shown and "After." in shown


def test_a_run_that_was_deleted_does_not_break_the_report(member: Client, run: models.Run) -> None:
    source = block("comparison", query=f"run={run.pk}")
    removal.delete_runs([run.pk], "tests")
    assert f"There is no run {run.pk} in this warehouse." in preview(member, source)


def test_nothing_in_a_text_can_run(member: Client) -> None:
    bad = [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "![x](https://elsewhere.example/pixel.png)",
        "![x](//elsewhere.example/pixel.png)",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "<svg onload=alert(1)>",
        "<style>*{}</style>",
    ]
    shown = str(html_of("\n\n".join(bad)))
    for pattern in (r"<script", r"<img[^>]*src", r"<[^>]*onerror", r"<svg", r"<style", r'href="(javascript|data)'):
        assert not re.search(pattern, shown), pattern


def test_a_saved_text_is_a_new_version(member: Client, report: models.Report, run: models.Run) -> None:
    address = reverse("reports:edit", args=[report.pk])
    assert member.post(address, {**text(run), "title": "Other", "version": 1}).status_code == 302
    assert [draft.title for draft in report.drafts.order_by("version")] == ["PostgreSQL 18 定点観測", "Other"]
    assert "PostgreSQL 18 定点観測" in page_text(member.get(f"{address}?version=1"))
    assert member.post(address, {**text(run), "title": "Other", "version": 2}).status_code == 302
    assert report.drafts.count() == 2  # nothing had changed


def test_two_authors_do_not_overwrite_each_other(member: Client, report: models.Report, run: models.Run) -> None:
    address = reverse("reports:edit", args=[report.pk])
    member.post(address, {**text(run), "title": "First", "version": 1})
    answer = member.post(address, {**text(run), "title": "Second", "version": 1})
    assert answer.status_code == 409
    page = page_text(answer)
    assert "Somebody saved version 2 meanwhile." in page
    assert b'value="Second"' in answer.content  # what was typed is still there
    assert report.drafts.latest("version").version == 2 and report.drafts.filter(title="Second").count() == 0


def test_a_published_report_never_changes(
    member: Client, stranger: Client, report: models.Report, run: models.Run
) -> None:
    edition = publish(member, report)
    address = reverse("reports:edition", args=[report.pk, 1])
    before = stranger.get(address).content
    body = before.partition(b"<article")[2].partition(b"</article>")[0]
    models.Measurement.objects.filter(run=run).update(value=1.0)
    reports.save(report.pk, Text(**text(run, title="Changed")), 1, user=None, actor="tests")
    after = stranger.get(address).content
    assert after.partition(b"<article")[2].partition(b"</article>")[0] == body
    stored = models.Edition.objects.get(pk=edition.pk)
    assert hashlib.sha256(reports.hashed_of(stored).encode()).hexdigest() == stored.hash
    assert set(stored.attempts) == set(run.trials.values_list("attempt_id", flat=True))
    assert "<svg" in stored.content


def test_a_published_report_leads_back_to_the_raw_output(
    member: Client, stranger: Client, report: models.Report
) -> None:
    edition = publish(member, report)
    page = stranger.get(reverse("reports:edition", args=[report.pk, 1])).content.decode()
    (citation,) = edition.citations
    assert reverse("citations:detail", args=[citation]) in page
    assert {trial["trial"] for trial in edition.facts["trials"]} == set(
        models.Trial.objects.values_list("pk", flat=True)
    )
    assert edition.hash[:16] in page


def test_what_cannot_be_published_is_not(member: Client, report: models.Report, run: models.Run) -> None:
    for changes, what in (
        ({"authors": ""}, "names its authors"),
        ({"source": "```teiten comparison\nquery = 'run=999999'\n```"}, "1 of its blocks cannot be shown."),
    ):
        report.refresh_from_db()
        reports.save(report.pk, Text(**text(run, **changes)), report.version, user=None, actor="tests")
        report.refresh_from_db()
        answer = member.post(reverse("reports:publish", args=[report.pk]), {"version": report.version})
        assert answer.status_code >= 400 and what in page_text(answer)
    assert not models.Edition.objects.exists() and not models.Snapshot.objects.exists()


def test_only_what_its_author_saw_is_published(member: Client, report: models.Report, run: models.Run) -> None:
    reports.save(report.pk, Text(**text(run, title="Later")), 1, user=None, actor="tests")
    answer = member.post(reverse("reports:publish", args=[report.pk]), {"version": 1})
    assert answer.status_code == 409 and "Somebody saved version 2 meanwhile." in page_text(answer)


def test_the_same_text_and_numbers_are_published_once(member: Client, report: models.Report) -> None:
    publish(member, report)
    answer = member.post(reverse("reports:publish", args=[report.pk]), {"version": 1})
    assert answer.status_code == 409 and "This is edition 1 already" in page_text(answer)
    assert report.editions.count() == 1


def test_a_new_edition_supersedes_the_old_one(
    member: Client, stranger: Client, report: models.Report, run: models.Run
) -> None:
    publish(member, report)
    reports.save(report.pk, Text(**text(run, title="Second edition")), 1, user=None, actor="tests")
    publish(member, report)
    assert "A newer edition supersedes this one" in page_text(
        stranger.get(reverse("reports:edition", args=[report.pk, 1]))
    )
    assert stranger.get(reverse("reports:newest", args=[report.pk]))["Location"].endswith(f"/reports/{report.pk}/2/")
    listed = page_text(stranger.get(reverse("reports:list")))
    assert "Second edition" in listed and "PostgreSQL 18 定点観測" not in listed


def test_a_withdrawn_report_leaves_a_notice(member: Client, stranger: Client, report: models.Report) -> None:
    edition = publish(member, report)
    address = reverse("reports:edition", args=[report.pk, 1])
    withdraw = reverse("reports:withdraw", args=[report.pk, 1])
    assert "needs a reason" in page_text(member.post(withdraw, {"reason": " "}))
    assert member.post(withdraw, {"reason": "The disk was full."}).status_code == 302
    answer = stranger.get(address)
    assert answer.status_code == 410
    page = page_text(answer)
    assert "The disk was full." in page and edition.hash in page and "Is 18 faster?" not in page
    assert stranger.get(reverse("reports:export", args=[report.pk, 1, "pdf"])).status_code == 302
    assert "withdrawn" in page_text(stranger.get(reverse("reports:list")))
    with pytest.raises(StateError):
        reports.withdraw(edition, "again", actor="tests")


def test_the_feed_names_every_edition(member: Client, stranger: Client, report: models.Report) -> None:
    edition = publish(member, report)
    answer = stranger.get(reverse("reports:feed"))
    assert answer["Content-Type"].startswith("application/atom+xml")
    atom = {"a": "http://www.w3.org/2005/Atom"}
    (item,) = ET.fromstring(answer.content).findall("a:entry", atom)
    assert item.find("a:title", atom).text == edition.title
    assert item.find("a:id", atom).text == f"urn:sha256:{edition.hash}"
    assert item.find("a:link", atom).attrib["href"].endswith(f"/reports/{report.pk}/1/")


def test_what_is_published_is_open_where_reading_is_not(
    member: Client, stranger: Client, report: models.Report, settings: Any
) -> None:
    publish(member, report)
    settings.TEITEN_OPEN_READING = False
    page = stranger.get(reverse("reports:edition", args=[report.pk, 1]))
    assert page.status_code == 200 and b'hx-get="/now/"' not in page.content
    assert stranger.get(reverse("reports:list")).status_code == 200
    assert stranger.get(reverse("reports:export", args=[report.pk, 1, "html"])).status_code == 200
    for name, arguments in (("new", []), ("edit", [report.pk])):
        assert stranger.get(reverse(f"reports:{name}", args=arguments)).status_code == 302
    assert stranger.post(reverse("reports:preview"), {"source": "x"}).status_code == 302
    assert stranger.post(reverse("reports:publish", args=[report.pk]), {"version": 1}).status_code == 302
    assert stranger.post(reverse("reports:withdraw", args=[report.pk, 1]), {"reason": "x"}).status_code == 302
    assert models.Edition.objects.get().withdrawn_at is None


def test_every_form_of_an_edition_is_the_same_report(member: Client, stranger: Client, report: models.Report) -> None:
    edition = publish(member, report)
    for form in (*FORMS, "bib", "csl.json"):
        answer = stranger.get(reverse("reports:export", args=[report.pk, 1, form]))
        assert answer.status_code == 200, form
        assert form in answer["Content-Disposition"]
    assert stranger.get(reverse("reports:export", args=[report.pk, 1, "docx"])).status_code == 404
    pages = pypdfium2.PdfDocument(stranger.get(reverse("reports:export", args=[report.pk, 1, "pdf"])).content)
    assert "定点観測" in pages[0].get_textpage().get_text_bounded()  # in letters that are in the file
    assert all(has_its_letters(page) for page in pages)
    cited = stranger.get(reverse("reports:export", args=[report.pk, 1, "bib"])).content.decode()
    assert "author = {{Ada} and {Working Group 1}}" in cited and edition.hash in cited
    item = json.loads(stranger.get(reverse("reports:export", args=[report.pk, 1, "csl.json"])).content)[0]
    assert [author["literal"] for author in item["author"]] == ["Ada", "Working Group 1"]


def test_the_site_of_a_report_needs_no_server(member: Client, stranger: Client, report: models.Report) -> None:
    edition = publish(member, report)
    answer = stranger.get(reverse("reports:export", args=[report.pk, 1, "site.zip"]))
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        names = archive.namelist()
        page = archive.read("index.html").decode()
        rows = archive.read(f"data/citation-{edition.citations[0]}.csv").decode().splitlines()
    assert {"index.html", "provenance.json"} <= set(names)
    assert len(rows) == 1 + len(edition.attempts)
    assert "Is 18 faster?" in page
    assert not re.search(r'src="(?!data:)', page)


def test_a_report_costs_a_reader_few_queries(
    member: Client, stranger: Client, report: models.Report, django_assert_max_num_queries: Any
) -> None:
    publish(member, report)
    with django_assert_max_num_queries(4):
        stranger.get(reverse("reports:edition", args=[report.pk, 1]))
    with django_assert_max_num_queries(2):
        stranger.get(reverse("reports:list"))
    with django_assert_max_num_queries(2):
        stranger.get(reverse("reports:feed"))


def test_blocks_stand_between_text() -> None:
    source = "a\n\n```teiten comparison\nquery = 'x'\n```\n\n```sql\nSELECT 1\n```\n- ```teiten table\n  ```\n"
    found = list(pieces(source))
    assert [type(piece).__name__ for piece in found] == ["Written", "Block", "Written"]
    assert isinstance(found[1], Block) and (found[1].name, found[1].line) == ("comparison", 3)


def test_a_text_that_is_too_long_is_refused(run: models.Run) -> None:
    with pytest.raises(TeitenError, match="letters"):
        reports.create(Text(**text(run, source="x" * (reports.MOST_LETTERS + 1))), user=None, actor="tests")
    assert not models.Report.objects.exists()


def test_the_method_says_the_order_of_the_first_block(member: Client, run: models.Run) -> None:
    order = run.trials.filter(block=1).order_by("position").values_list("configuration__index", flat=True)
    shown = preview(member, block("method", run=run.pk))
    assert f"in the order {', '.join(map(str, order))}." in shown


def test_a_run_in_print_is_not_deleted(member: Client, report: models.Report, run: models.Run) -> None:
    reports.save(report.pk, Text(**text(run, source=block("versions"))), 1, user=None, actor="tests")
    edition = publish(member, report)
    assert edition.attempts and not edition.citations
    with pytest.raises(StateError, match="cannot be deleted") as refused:
        removal.delete_runs([run.pk], "tests")
    assert f"Published in {edition.title}, edition 1" in refused.value.why


@pytest.mark.parametrize("name", ["title", "authors", "source"])
def test_a_control_character_is_refused(run: models.Run, name: str) -> None:
    with pytest.raises(TeitenError, match="control character") as refused:
        reports.create(Text(**text(run, **{name: "Read\x0bWrite"})), user=None, actor="tests")
    assert refused.value.where == name


def test_an_older_version_is_not_published_unseen(member: Client, report: models.Report, run: models.Run) -> None:
    reports.save(report.pk, Text(**text(run, title="Newer")), 1, user=None, actor="tests")
    page = page_text(member.get(reverse("reports:edit", args=[report.pk]) + "?version=1"))
    assert "Version 1, an older one." in page and "Publish version" not in page


def test_an_edition_that_stands_is_not_hidden_by_a_withdrawn_one(
    member: Client, stranger: Client, report: models.Report, run: models.Run
) -> None:
    publish(member, report)
    reports.save(report.pk, Text(**text(run, title="Second edition")), 1, user=None, actor="tests")
    second = publish(member, report)
    reports.withdraw(second, "Too soon.", actor="tests")
    assert stranger.get(reverse("reports:newest", args=[report.pk]))["Location"].endswith(f"/reports/{report.pk}/1/")
    assert "supersedes" not in page_text(stranger.get(reverse("reports:edition", args=[report.pk, 1])))
    assert "PostgreSQL 18 定点観測" in page_text(stranger.get(reverse("reports:list")))


def test_every_line_of_a_text_is_kept(member: Client) -> None:
    """U+2028 and others end lines for Python, not for Markdown."""
    shown = preview(member, "one\u2028two\n\nlast before\n\n```teiten versions\n```\n\nafter")
    assert "last before" in shown and "<p>after</p>" in shown


def test_headings_and_links_are_those_of_the_whole_text(member: Client) -> None:
    source = "### Ratio\n\n[paper][1]\n\n```teiten versions\n```\n\n### Ratio\n\n## Cost & time\n\n[1]: https://paper.example/"
    shown = preview(member, source)
    assert 'id="s-ratio"' in shown and 'id="s-ratio-1"' in shown
    assert 'href="https://paper.example/"' in shown


def test_a_sign_of_a_formula_is_a_sign(member: Client, run: models.Run) -> None:
    html_shown = preview(member, block("figure", query=f"run={run.pk}", caption=r"Cost $1 and $2 of $\foo$"))
    assert r"Cost $1 and $2 of $\foo$" in html_shown


def test_an_aligned_cell_is_no_words_of_the_text(member: Client) -> None:
    shown = preview(member, '`a style="text-align: right"`\n\n| a |\n|--:|\n| 1 |')
    assert 'a style="text-align: right"' in html.unescape(shown) and '<td class="num">1</td>' in shown


def test_the_commands_of_a_method_are_those_that_measure() -> None:
    ran = "export PGPORT=1\nexec /opt/pgbench -c 4 bench"
    assert script(f"env LC_ALL=C sh -c '# Starts a job.\nset -eu\n' job <<'INPUT'\n{ran}\n\nINPUT") == ran
    assert script("pgbench -c 4 bench") == "pgbench -c 4 bench"
    assert script("sh -s <<'INPUT'\n{\ncd x\n} </dev/null\nINPUT") == ""
