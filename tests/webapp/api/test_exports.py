"""A comparison as files: each opened by the program that it is for, and every number the page's."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import zipfile
from copy import deepcopy
from typing import Any

import openpyxl
import pyarrow.parquet
import pypdfium2
import pytest
from PIL import Image
from rest_framework.test import APIClient

from results import models
from results.domain.statistics.verdict import RULE
from results.domain.units import format_quantity
from results.queries.comparison.compare import compare
from results.queries.shared.selection import Selection
from tests import environments, factories
from webapp.exports.forms import FORMS

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def made(kept: None) -> models.Run:
    """Three replicates of two versions, each of which ran in an environment that was recorded."""
    made = factories.finished_run(replicates=3)
    of_version = {f"v{major}": environments.layers(major, rows={"work_mem": "65536"}) for major in (16, 18)}
    environments.run_in_versions(made, **of_version)
    return made


@pytest.fixture
def run(made: models.Run) -> models.Run:
    return deepcopy(made)


def ask(client: APIClient, run: models.Run, form: str, more: str = "") -> Any:
    answer = client.get(f"/api/v1/comparison.{form}?run={run.pk}{more}")
    assert answer.status_code == 200, answer.content
    assert f'.{form}"' in answer["Content-Disposition"]
    return answer


def files(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def values(run: models.Run) -> list[float]:
    return [replicate.value for point in compare(Selection((run.pk,))).points for replicate in point.values]


def test_anybody_who_may_read_has_every_form(anonymous: APIClient, run: models.Run, settings: Any) -> None:
    for form, described in FORMS.items():
        answer = ask(anonymous, run, form)
        assert answer["Content-Type"] == described.content_type
        assert answer.content
    settings.TEITEN_OPEN_READING = False
    assert anonymous.get(f"/api/v1/comparison.pdf?run={run.pk}").status_code == 401


def test_a_name_says_what_the_file_holds(anonymous: APIClient, run: models.Run) -> None:
    name = f"teiten-tps-by-clients-run-{run.pk}"
    assert f'"{name}.pdf"' in ask(anonymous, run, "pdf")["Content-Disposition"]
    assert f'"{name}-slide.svg"' in ask(anonymous, run, "svg", "&shape=slide")["Content-Disposition"]
    ratio = ask(anonymous, run, "svg", "&view=ratio")["Content-Disposition"]
    assert f'"teiten-tps-by-clients-ratio-run-{run.pk}.svg"' in ratio


def test_the_pdf_has_the_figure_the_cells_and_the_environment(anonymous: APIClient, run: models.Run) -> None:
    answer = ask(anonymous, run, "pdf").content
    pages = pypdfium2.PdfDocument(answer)
    text = " ".join(page.get_textpage().get_text_bounded() for page in pages)
    plain = " ".join(text.split())
    assert "Figure 1. Transactions per second by clients" in plain
    assert "AMD EPYC, 2 processors" in plain
    assert "16.14" in plain and "18.4" in plain and "work_mem" in plain
    for point in compare(Selection((run.pk,))).points:
        assert format_quantity(point.value, "tps") in plain
    attached = [pages.get_attachment(n) for n in range(pages.count_attachments())]
    assert [one.get_name() for one in attached] == ["provenance.json"]
    assert {trial["trial"] for trial in json.loads(bytes(attached[0].get_data()))["trials"]} == trials_of(run)
    assert all(has_its_letters(page) for page in pages)


def has_its_letters(page: pypdfium2.PdfPage) -> bool:
    """Whether every font that it uses is in the file."""
    texts = page.get_objects(filter=[pypdfium2.raw.FPDF_PAGEOBJ_TEXT])
    fonts = [pypdfium2.raw.FPDFTextObj_GetFont(text) for text in texts]
    return bool(fonts) and all(pypdfium2.raw.FPDFFont_GetIsEmbedded(font) == 1 for font in fonts)


def trials_of(run: models.Run) -> set[int]:
    return set(run.trials.values_list("pk", flat=True))


def test_the_html_needs_no_server(anonymous: APIClient, run: models.Run) -> None:
    html = ask(anonymous, run, "html").content.decode()
    assert "data:image/svg+xml;base64," in html
    addresses = re.findall(r'(?:src|href)="([^"#][^"]*)"', html)
    assert addresses and all(one.startswith(("data:", "http://testserver/compare/")) for one in addresses)
    facts = json.loads(re.search(r'id="teiten-provenance" type="application/json">(.*?)</script>', html, re.DOTALL)[1])
    assert {trial["trial"] for trial in facts["trials"]} == trials_of(run)


@pytest.mark.parametrize(
    ("form", "figure", "table"),
    [
        ("md.zip", "![Transactions per second by clients](figures/figure-1-tps.svg)", "--:|"),
        ("rst.zip", ".. figure:: figures/figure-1-tps.svg", ".. table:: Table 1. Transactions per second, every cell"),
        ("tex.zip", r"{figures/figure-1-tps.pdf}", r"\toprule"),
    ],
)
def test_a_text_has_its_figures_beside_it(
    anonymous: APIClient, run: models.Run, form: str, figure: str, table: str
) -> None:
    content = files(ask(anonymous, run, form).content)
    (name,) = (name for name in content if name.endswith(f".{form.partition('.')[0]}"))
    text = content[name].decode()
    assert figure in text and table in text
    assert sorted(content) == sorted(
        [name, f"figures/figure-1-tps.{'pdf' if form == 'tex.zip' else 'svg'}", PROVENANCE]
    )
    for point in compare(Selection((run.pk,))).points:
        assert format_quantity(point.value, "tps") in text
    assert {trial["trial"] for trial in json.loads(content[PROVENANCE])["trials"]} == trials_of(run)


PROVENANCE = "provenance.json"


def test_every_row_is_in_every_form_for_programs(anonymous: APIClient, run: models.Run) -> None:
    packed = files(ask(anonymous, run, "csv.zip").content)
    (name,) = (name for name in packed if name.endswith(".csv"))
    rows = list(csv.DictReader(io.StringIO(packed[name].decode())))
    assert [float(row["value"]) for row in rows] == values(run)
    assert packed[name] == ask(anonymous, run, "csv").content
    book = openpyxl.load_workbook(io.BytesIO(ask(anonymous, run, "xlsx").content))
    heading, *lines = book["replicates"].iter_rows(values_only=True)
    assert list(heading) == list(rows[0])
    assert [line[heading.index("value")] for line in lines] == values(run)
    assert f'"trial": {rows[0]["trial"]}' in " ".join(str(cell.value) for cell in book["provenance"]["A"])
    table = pyarrow.parquet.read_table(io.BytesIO(ask(anonymous, run, "parquet").content))
    assert table["value"].to_pylist() == values(run)
    assert table["trial"].to_pylist() == [int(row["trial"]) for row in rows]
    assert json.loads(table.schema.metadata[b"provenance"])["teiten"]["rules"] == [RULE]


def test_a_text_is_no_formula(anonymous: APIClient, run: models.Run) -> None:
    """A program for tables runs what begins with '='."""
    models.Configuration.objects.filter(run=run).update(name="=1+1")
    book = openpyxl.load_workbook(io.BytesIO(ask(anonymous, run, "xlsx").content))
    assert not [cell for row in book["replicates"].iter_rows() for cell in row if cell.data_type == "f"]


def test_provenance_leads_to_the_raw_output(
    anonymous: APIClient, run: models.Run, django_assert_max_num_queries: Any
) -> None:
    models.Attempt.objects.filter(run=run).update(bundle_sha256=hashlib.sha256(b"raw").hexdigest())
    with django_assert_max_num_queries(9):
        facts = ask(anonymous, run, "provenance.json").json()
    assert facts["runs"] == [
        {
            "run": run.pk,
            "name": run.name,
            "plan_sha256": run.plan_hash,
            "created_at": run.created_at.isoformat(),
            "not_measured_here": "",
            "program": "",
            "from_teiten": None,
        }
    ]
    assert {trial["bundle_sha256"] for trial in facts["trials"]} == {hashlib.sha256(b"raw").hexdigest()}
    assert set(facts["environments"]) == {trial["environment"] for trial in facts["trials"]}
    stored = set(models.Layer.objects.values_list("hash", flat=True))
    layers = [layer for every in facts["environments"].values() for layer in every]
    assert {"hardware", "settings", "build"} <= {layer["kind"] for layer in layers}
    assert {layer["sha256"] for layer in layers} <= stored
    assert facts["address"] == f"http://testserver/compare/?run={run.pk}"


def test_a_document_asks_the_warehouse_no_more_for_more_cells(
    anonymous: APIClient, run: models.Run, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(13):
        ask(anonymous, run, "html")


def test_a_figure_is_chosen_by_its_number(anonymous: APIClient, run: models.Run) -> None:
    png = ask(anonymous, run, "png", "&panel=clients&x=installation&series=none&figure=2&shape=slide")
    assert Image.open(io.BytesIO(png.content)).size == (2560, 1440)
    first, second = (
        ask(anonymous, run, "svg", f"&panel=clients&x=installation&series=none&figure={number}").content
        for number in (1, 2)
    )
    assert b", clients 1 " in first.replace(b"-->", b" ") and b", clients 4 " in second.replace(b"-->", b" ")


@pytest.mark.parametrize(
    ("query", "where", "what"),
    [
        ("figure=7", "figure", "There is no figure 7."),
        ("figure=x", "figure", "'x' is not the number of a figure."),
        ("shape=poster", "shape", "There is no shape 'poster'."),
        ("colour=red", "colour", "There is no parameter 'colour'."),
        ("view=upside", "view", "There is no view 'upside'."),
    ],
)
def test_what_cannot_be_drawn_is_said(anonymous: APIClient, run: models.Run, query: str, where: str, what: str) -> None:
    answer = anonymous.get(f"/api/v1/comparison.svg?run={run.pk}&{query}")
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error["where"], error["what"]) == (where, what)


def test_an_unknown_form_names_those_that_there_are(anonymous: APIClient, run: models.Run) -> None:
    error = anonymous.get(f"/api/v1/comparison.docx?run={run.pk}").json()["error"]
    assert error["what"] == "There is no export as 'docx'." and "rst.zip" in error["todo"]


def test_nothing_to_export_is_a_document_that_says_so(anonymous: APIClient, db: Any) -> None:
    made = factories.run()
    assert anonymous.get(f"/api/v1/comparison.html?run={made.pk}").status_code == 200
    answer = anonymous.get(f"/api/v1/comparison.png?run={made.pk}")
    assert answer.status_code == 400 and answer.json()["error"]["where"] == "figure"


def test_a_citation_has_the_same_files(anonymous: APIClient, visitor: Any, run: models.Run) -> None:
    made = visitor("publish").post("/api/v1/citations/", {"query": f"run={run.pk}"}, format="json").json()
    for form in FORMS:
        answer = anonymous.get(f"/api/v1/citations/{made['hash']}.{form}")
        assert answer.status_code == 200, form
    facts = anonymous.get(made["links"]["provenance"]).json()
    assert facts["address"] == f"http://testserver/c/{made['hash']}/"
    assert anonymous.get("/api/v1/citations/0123456789abcdef.pdf").status_code == 404


def test_everything_is_every_form_in_one_archive(anonymous: APIClient, run: models.Run) -> None:
    content = files(ask(anonymous, run, "zip").content)
    suffixes = {name.rpartition(".")[2] for name in content}
    assert suffixes == {"pdf", "html", "md", "rst", "tex", "csv", "xlsx", "parquet", "svg", "png", "json"}
    assert {name.split("/")[1] for name in content if name.startswith("figures/") and name.count("/") == 2} == {
        "page",
        "slide",
        "print",
    }
    assert PROVENANCE in content


def test_what_is_left_out_is_said(anonymous: APIClient, db: Any) -> None:
    made = factories.run(replicates=2)
    *done, failed = made.trials.order_by("position").select_related("configuration")
    for trial in done:
        factories.finish(trial)
    factories.fail(failed, "pgbench was aborted.", why="FATAL")
    html = anonymous.get(f"/api/v1/comparison.html?run={made.pk},{factories.NO_ID}").content.decode()
    assert "Not included: 1 failed." in html
    assert f"There is no run {factories.NO_ID}" in html
    assert f"Teiten, run {made.pk}," in html


def test_what_is_not_recorded_is_no_default(anonymous: APIClient, run: models.Run) -> None:
    for trial in environments.done(run):
        if trial.configuration.dimensions["major"] == "16" and trial.attempt:
            environments.ran_in(trial.attempt, [])
    html = anonymous.get(f"/api/v1/comparison.html?run={run.pk}").content.decode()
    row = html.partition("<td>work_mem</td>")[2].partition("</tr>")[0]
    assert row == "<td>–</td><td>64MB</td>"


def test_a_table_says_by_what_it_is_divided(anonymous: APIClient, run: models.Run) -> None:
    html = anonymous.get(f"/api/v1/comparison.html?run={run.pk}&per=client").content.decode()
    assert "Transactions per second per client, every cell" in html


def test_files_for_people_are_in_their_language_and_columns_are_the_same_in_all(
    anonymous: APIClient, run: models.Run
) -> None:
    japanese = {"HTTP_ACCEPT_LANGUAGE": "ja"}

    def had(form: str, **language: str) -> bytes:
        answer = anonymous.get(f"/api/v1/comparison.{form}?run={run.pk}", **language)
        assert answer.status_code == 200
        return bytes(answer.content)

    page = had("html", **japanese).decode()
    assert '<html lang="ja">' in page
    assert [words for words in ("図1：", "表1：", "環境", "最小値", "基準", "判定規則") if words not in page] == []
    assert [words for words in ("Figure 1.", "Table 1.", "every cell", "smallest") if words in page] == []
    assert had("csv", **japanese) == had("csv")
    book = openpyxl.load_workbook(io.BytesIO(had("xlsx", **japanese)))
    assert [cell.value for cell in book["replicates"][1]][:3] == ["panel", "x", "series"]
    assert b"\\title{" in files(had("tex.zip", **japanese))[f"teiten-tps-by-clients-run-{run.pk}.tex"]
    pages = pypdfium2.PdfDocument(had("pdf", **japanese))
    assert "図1" in pages[0].get_textpage().get_text_bounded() and all(has_its_letters(one) for one in pages)
