"""The pages of imported results: the preview that stores nothing, the import, and whatever is wrong said in place."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from results import models, removal
from results.domain.imports import text as text_module
from tests.imported import COLUMNS, TABLE, recorded, text_file, uploads
from tests.page_text import page_text
from webapp.forms.imports import UPLOAD

NAMES = ("pgbench-15-c2.txt", "pgbench-15-c4.txt")


def preview(client: Client, *files: Any, **fields: str) -> str:
    return page_text(client.post("/imports/preview/", {"file": uploads(*files), **fields}))


def fingerprint(text: str) -> str:
    match = re.search(r'name="previewed" value="(\w+)"', text)
    return match[1] if match else ""


def imported(client: Client, *files: Any, **fields: str) -> models.Run:
    previewed = fingerprint(preview(client, *files, **fields))
    answer = client.post("/imports/new/", {"file": uploads(*files), "previewed": previewed, **fields})
    run = models.Run.objects.get()
    assert answer["Location"] == f"/runs/{run.pk}/"
    return run


def test_the_form_names_the_programs(member: Client, django_assert_max_num_queries: Any) -> None:
    with django_assert_max_num_queries(2):
        text = page_text(member.get("/imports/new/"))
    assert "recognise it" in text
    assert "the log of its transactions (-l)" in text


def test_the_preview_shows_what_would_be_stored_and_stores_nothing(member: Client) -> None:
    levels = {"levels.pgbench-15-c2.txt": "shared_buffers=1GB", "levels.pgbench-15-c4.txt": "shared_buffers=8GB"}
    text = preview(member, *recorded(*NAMES), **levels)
    assert "2 trials of 2 configurations" in text
    assert "shared_buffers=8GB, clients=4, threads=1, transactions=25" in text
    assert "1,972" in text
    assert 'name="levels.pgbench-15-c4.txt"' in text
    assert models.Run.objects.count() == models.Publication.objects.count() == 0


def test_what_was_previewed_is_imported_and_marked(member: Client, stranger: Client) -> None:
    run = imported(member, *recorded(*NAMES), name="From db9", note="8 cores\n64 GB", measured_on="2026-11-20")
    publication = models.Publication.objects.get()
    page = page_text(stranger.get(f"/imports/{publication.slug}/"))
    for words in ("From db9", "Imported from pgbench. Not measured here.", "2026-11-20", "64 GB"):
        assert words in page
    assert recorded(NAMES[0])[0].sha256 in page
    trial = run.trials.order_by("position").first()
    assert f"/trials/{trial.pk}/1/file/pgbench-15-c2.txt" in page
    assert "imported, pgbench" in page_text(stranger.get("/runs/"))
    run_page = page_text(stranger.get(f"/runs/{run.pk}/"))
    assert "Imported from pgbench" in run_page
    assert "2 trials, not measured here" in run_page
    assert not re.search(r"<th[^>]*>\s*replicate 2", run_page)
    own_page = page_text(member.get(f"/runs/{run.pk}/"))
    assert "Archive or delete" in own_page and 'value="kept"' in own_page
    shown = page_text(stranger.get(f"/trials/{trial.pk}/"))
    assert "Imported, not measured here" in shown
    comparison = page_text(stranger.get(f"/compare/?run={run.pk}"))
    assert "Imported results, not measured here" in comparison
    assert f"/imports/{publication.slug}/" in comparison


def test_the_raw_file_is_downloaded_as_it_came(member: Client, stranger: Client) -> None:
    run = imported(member, *recorded(NAMES[0]))
    answer = stranger.get(f"/trials/{run.trials.get().pk}/1/file/{NAMES[0]}")
    assert b"".join(answer) == recorded(NAMES[0])[0].content


def test_another_file_than_previewed_is_not_imported(member: Client) -> None:
    previewed = fingerprint(preview(member, *recorded(NAMES[0])))
    answer = member.post("/imports/new/", {"file": uploads(*recorded(NAMES[1])), "previewed": previewed})
    assert answer.status_code == 409
    assert "not what the preview showed" in page_text(answer)
    assert models.Run.objects.count() == 0


def test_the_list_and_the_page_take_few_queries(
    member: Client, stranger: Client, django_assert_max_num_queries: Any
) -> None:
    assert "Nothing is imported." in page_text(stranger.get("/imports/"))
    imported(member, *recorded(*NAMES))
    with django_assert_max_num_queries(1):
        text = page_text(stranger.get("/imports/"))
    slug = models.Publication.objects.get().slug
    assert f"/imports/{slug}/" in text
    assert "/imports/new/" not in text
    with django_assert_max_num_queries(3):
        stranger.get(f"/imports/{slug}/")
    assert stranger.get("/imports/import-none/").status_code == 404


def test_the_trials_of_a_large_import_come_in_pages_that_all_lead_to_its_file(member: Client, stranger: Client) -> None:
    table = "clients,tps\n" + "".join(f"{clients},{1000 + clients}\n" for clients in range(1, 131))
    run = imported(member, text_file("many.csv", table))
    address = f"/imports/{models.Publication.objects.get().slug}/"
    trials = list(run.trials.order_by("position").values_list("pk", flat=True))
    pages: list[list[int]] = []
    query = ""
    while not pages or query:
        text = page_text(stranger.get(f"{address}{query}"))
        pages.append([int(pk) for pk in re.findall(r'<th scope="row">\s*<a href="/trials/(\d+)/">', text)])
        assert f"/trials/{trials[0]}/" in text.partition("<h2>Trials</h2>")[0]
        following = re.search(r'rel="next" href="([^"]+)"', text)
        query = following[1] if following else ""
    assert pages == [trials[:100], trials[100:]]
    assert "No more of these." in page_text(stranger.get(f"{address}?after=999"))


def test_a_published_table_is_no_import_and_an_import_no_published_table(member: Client) -> None:
    imported(member, *recorded(*NAMES))
    slug = models.Publication.objects.get().slug
    assert member.get(f"/published/{slug}/").status_code == 404
    assert slug not in page_text(member.get("/published/"))


def test_a_name_typed_after_the_preview_needs_no_second_look(member: Client) -> None:
    files = recorded(NAMES[0])
    previewed = fingerprint(preview(member, *files))
    fields = {"file": uploads(*files), "previewed": previewed, "name": "Later", "note": "8 cores"}
    assert member.post("/imports/new/", fields).status_code == 302
    assert models.Run.objects.get().name == "Later"


def test_logs_have_no_levels_of_their_own(member: Client) -> None:
    text = preview(member, *recorded("pgbench-15-c2.txt", "pgbench-15-c2.log.1", "pgbench-15-c2.log.2"))
    assert 'name="levels.pgbench-15-c2.txt"' in text
    assert 'name="levels.pgbench-15-c2.log.1"' not in text


def test_a_stranger_imports_nothing(stranger: Client, db: None) -> None:
    for path in ("/imports/new/", "/imports/preview/"):
        answer = stranger.post(path, {"file": uploads(*recorded(*NAMES))})
        assert answer["Location"].startswith("/account/sign-in/")
    assert models.Publication.objects.count() == 0


def test_a_table_shows_its_first_rows_and_a_mapping(member: Client) -> None:
    text = preview(member, text_file("old.csv", TABLE))
    assert 'name="role.avg latency"' in text
    assert '<option value="replicate" selected>replicate</option>' in text
    assert "3 trials of 2 configurations" in text
    assert "latency.mean" not in text


def test_a_mapped_table_is_imported_with_the_cell_of_each_number(member: Client) -> None:
    file = text_file("old.csv", TABLE)
    fields = {"mapped": "old.csv", "workload": "tpcb", **COLUMNS}
    run = imported(member, file, **fields)
    rows = models.Measurement.objects.filter(run=run, metric="latency.mean").order_by("attempt")
    assert [row.value for row in rows] == [8000, 7500, 6100]
    assert run.workload == "tpcb"
    last = run.trials.order_by("-position").first()
    assert "line 4, column avg latency" in page_text(member.get(f"/trials/{last.pk}/"))


def test_a_japanese_table_is_read_in_its_encoding(member: Client) -> None:
    table = "version,備考,tps\n16,速い,10\n"
    text = preview(member, text_file("s.csv", table, "cp932"))
    assert '<option value="cp932" selected>' in text
    assert "速い" in text
    wrong = preview(member, text_file("s.csv", table, "cp932"), mapped="s.csv", encoding="utf-8")
    assert "It may be Shift_JIS (CP932)" in wrong


def test_decimal_commas_are_seen(member: Client) -> None:
    text = preview(member, text_file("d.csv", "version;tps\n16;1.234,5\n17;1,5\n"))
    assert '<option value=";" selected>' in text
    point = preview(member, text_file("d.csv", "version;tps\n16;1,5\n"), mapped="d.csv", decimal=".")
    assert "d.csv:2, column tps" in point
    assert "With &#x27;,&#x27; as decimal mark it would be 1.5" in point


def test_a_decimal_mark_that_no_cell_decides_is_asked_for(member: Client) -> None:
    table = text_file("c.csv", "clients;latency.mean\n1;1,198\n2;1,178\n4;2,126\n")
    mapping = {"mapped": "c.csv", "role.latency.mean": "metric", "unit.latency.mean": "ms"}
    text = preview(member, table, **mapping)
    assert "The decimal mark is not known." in text and not fingerprint(text)
    assert '<option value="" selected>choose</option>' in text
    imported(member, table, **mapping, decimal=",")
    assert sorted(models.Measurement.objects.values_list("value", flat=True)) == [1178, 1198, 2126]


def test_a_metric_with_a_wrong_unit_is_gone_with_the_only_table_that_has_it(member: Client) -> None:
    table = text_file("t.csv", "version,load,waits\n16,10,1\n17,12,2\n")
    mapping = {"mapped": "t.csv", "role.load": "metric", "role.waits": "metric"}
    run = imported(member, table, **mapping, **{"unit.load": "MB"})
    other = text_file("u.csv", "version,waits\n16,1\n")
    fields = {"mapped": "u.csv", "role.waits": "metric"}
    previewed = fingerprint(preview(member, other, **fields))
    member.post("/imports/new/", {"file": uploads(other), "previewed": previewed, **fields})
    wrong = preview(member, table, **mapping, **{"unit.load": "s"})
    assert "load is in B in this warehouse, and in s here." in wrong
    removal.delete_runs([run.pk], "tests")
    assert list(models.Metric.objects.filter(name__in=("load", "waits")).values_list("name", flat=True)) == ["waits"]
    assert fingerprint(preview(member, table, **mapping, **{"unit.load": "s"}))


def test_a_table_names_the_metrics_of_other_programs_in_their_units(member: Client) -> None:
    table = text_file("t.csv", "version,hammerdb.tpm,sysbench.latency.p95\n16,10,1\n")
    fields = {"mapped": "t.csv", "unit.hammerdb.tpm": "ms"}
    assert "hammerdb.tpm is in 1/min in this warehouse, and in ms here." in preview(member, table, **fields)
    assert fingerprint(preview(member, table))


def test_a_mapping_of_another_table_is_forgotten(member: Client) -> None:
    fields = {"mapped": "old.csv", "delimiter": ";", **COLUMNS}
    text = preview(member, text_file("new.csv", "version,tps\n16,1\n"), **fields)
    assert "There is no column" not in text
    assert fingerprint(text)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"program": "swingbench"}, "There is no program"),
        ({"levels.pgbench-15-c2.txt": "version"}, "no level of a factor"),
        ({"levels.pgbench-15-c2.txt": "a=1, a=2"}, "no level of a factor"),
        ({"measured_on": "yesterday"}, "is no date"),
        ({"name": "x" * 121}, "The name is too long."),
        ({"note": "x" * 4001}, "The note is too long."),
        ({"workload": "<script>"}, "is no name of a workload"),
        ({"program": "csv"}, "The table has one column."),
    ],
)
def test_a_wrong_field_is_said_in_the_preview(member: Client, fields: dict[str, str], words: str) -> None:
    text = preview(member, *recorded("pgbench-15-c2.txt"), **fields)
    assert words in text
    assert "what to do" in text
    assert not fingerprint(text)


def test_files_too_large_together_and_too_many_are_refused_in_the_preview(
    member: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_module, "LARGEST_IMPORT_BYTES", 500)
    assert "The files have 920 B together." in preview(member, *recorded(*NAMES))
    many = [text_file(f"{number}.txt", str(number)) for number in range(201)]
    assert "201 files are too many." in preview(member, *many)


def test_files_that_would_take_much_more_memory_than_they_are_long_are_refused_in_the_preview(member: Client) -> None:
    text = "one line of many\n" * 1_000_000
    assert len(text) < UPLOAD.most_bytes
    plain, other = text_file("a.txt", text), text_file("b.txt", f"{text}\U0001f600")
    assert "The file is output of no program known here." in preview(member, plain)
    assert "are in files with letters beyond ASCII." in preview(member, other)
    objects = text_file("summary.json", '{"Goodput (requests/second)": [' + "[]," * 3_000_000 + "[]]}")
    assert "The file has more than 8 MB of JSON." in preview(member, objects, program="benchbase")


def test_the_same_file_again_names_its_run(member: Client) -> None:
    run = imported(member, *recorded(*NAMES))
    assert f"imported before, in run {run.pk}" in preview(member, *recorded(*NAMES))
    answer = member.post("/imports/new/", {"file": uploads(*recorded(*NAMES)), "previewed": "x"})
    assert answer.status_code == 409
    assert models.Run.objects.count() == 1


def test_a_citation_says_what_is_imported(member: Client) -> None:
    run = imported(member, *recorded(*NAMES), name="From db9")
    answer = member.post("/compare/cite/", {"query": f"run={run.pk}"}, follow=True)
    text = page_text(answer)
    assert text.count("Results imported from pgbench, not measured here: From db9.") >= 2
