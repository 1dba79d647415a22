"""Archives that are no exported run, damaged or hostile: each refused in clear words, and nothing half-imported."""

from __future__ import annotations

import hashlib
import json
import random
import re
import stat
import zipfile
from collections.abc import Callable, Iterator
from copy import copy
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings

from results import models
from results.bundle_storage import UNFINISHED
from results.domain.errors import ArchiveError, IngestError, PlanError, TeitenError
from results.domain.packing import pack
from results.domain.research_object import limits
from results.domain.research_object.facts import FACTS
from results.exporting import CHECKSUMS, PLAN
from tests.measured_runs import exported, forget, measured_run
from workers import importing, research_archive

pytestmark = pytest.mark.django_db
BUNDLE = "bundles/00000-2.tar.gz"
Change = Callable[[dict[str, bytes]], None]


@pytest.fixture(autouse=True)
def bundles(settings: Any, tmp_path: Path) -> Path:
    settings.TEITEN_BUNDLE_DIR = tmp_path / "bundles"
    return tmp_path / "bundles"


@pytest.fixture(scope="module", autouse=True)
def archive(kept: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a run that is not in the warehouse."""
    folder = tmp_path_factory.mktemp("archive")
    with override_settings(TEITEN_BUNDLE_DIR=folder / "bundles"):
        source = measured_run()
        made = exported(source, folder)
        forget(source)
    return made


@pytest.fixture
def untouched(bundles: Path) -> Iterator[None]:
    """Afterwards warehouse and bundle folder are as they were: nothing is half-imported."""
    yield
    tables = (
        models.Run,
        models.RunImport,
        models.Configuration,
        models.Trial,
        models.Attempt,
        models.Measurement,
        models.EnvironmentLayer,
    )
    assert {table.__name__: table.objects.count() for table in tables if table.objects.exists()} == {}
    assert [path for path in bundles.rglob("*") if path != bundles / UNFINISHED] == []


def entered(path: Path) -> models.Run:
    return importing.import_run(path, user=None, actor="tests")


def content_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack_zip(path: Path, content: dict[str, bytes]) -> Path:
    """Write an archive of these files, its checksums made anew."""
    names = [name for name in content if name != CHECKSUMS]
    lines = (f"{hashlib.sha256(content[name]).hexdigest()}  {name}\n" for name in names)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in (content | {CHECKSUMS: "".join(lines).encode()}).items():
            archive.writestr(name, data)
    return path


def facts_changed(**changes: Any) -> Change:
    def change(content: dict[str, bytes]) -> None:
        content[FACTS] = json.dumps(json.loads(content[FACTS]) | changes).encode()

    return change


def trial_changed(**changes: Any) -> Change:
    """Change the first trial, or with `attempt=` its last attempt."""

    def change(content: dict[str, bytes]) -> None:
        facts = json.loads(content[FACTS])
        facts["trials"][0]["attempts"][-1] |= changes.pop("attempt", {})
        facts["trials"][0] |= changes
        content[FACTS] = json.dumps(facts).encode()

    return change


def bundle_replaced(data: Callable[[dict[str, bytes]], bytes]) -> Change:
    """Put another bundle in the place of the first trial's, with all checksums made to fit."""

    def change(content: dict[str, bytes]) -> None:
        content[BUNDLE] = data(content)
        facts = json.loads(content[FACTS])
        sums = {"bundle_sha256": hashlib.sha256(content[BUNDLE]).hexdigest(), "bundle_bytes": len(content[BUNDLE])}
        facts["trials"][0]["attempts"][-1] |= sums
        content[FACTS] = json.dumps(facts).encode()

    return change


def without(name: str) -> Change:
    return lambda content: content.__delitem__(name)


def with_file(name: str, data: bytes = b"x") -> Change:
    return lambda content: content.__setitem__(name, data)


def plan_changed(old: bytes, new: bytes) -> Change:
    return lambda content: content.__setitem__(PLAN, content[PLAN].replace(old, new))


def configuration_changed(**changes: Any) -> Change:
    """Change the configuration of the first trial, or with `spec=` its specification."""

    def change(content: dict[str, bytes]) -> None:
        facts = json.loads(content[FACTS])
        configuration = facts["configurations"][facts["trials"][0]["configuration"]]
        spec = configuration["spec"] | changes.get("spec", {})
        configuration |= changes | {"spec": spec}
        content[FACTS] = json.dumps(facts).encode()

    return change


def spec_changed(**changes: Any) -> Change:
    return configuration_changed(spec=changes)


def no_numbers(content: dict[str, bytes]) -> None:
    """The first trial's facts say that its bundle has other numbers."""
    trial_changed(attempt={"numbers": "0" * 64})(content)


BAD: dict[str, tuple[Change, type[TeitenError], str]] = {
    "leads out": (with_file("../bundles/evil"), ArchiveError, "is no path inside an archive"),
    "absolute": (with_file("/etc/cron.d/evil"), ArchiveError, "is no path inside an archive"),
    "of Windows": (with_file("c:\\evil"), ArchiveError, "is no path inside an archive"),
    "one more": (with_file("bundles/evil"), ArchiveError, "'bundles/evil' is no file of an exported run"),
    "bundle missing": (without(BUNDLE), ArchiveError, "bundles/00000-2.tar.gz is missing"),
    "plan missing": (without(PLAN), ArchiveError, "plan.toml is missing"),
    "facts missing": (without(FACTS), ArchiveError, "run.json is missing"),
    "no JSON": (with_file(FACTS, b"{"), ArchiveError, "run.json is not JSON"),
    "deep JSON": (with_file(FACTS, b"[" * 200_000), ArchiveError, "run.json"),
    "a list": (with_file(FACTS, b"[]"), ArchiveError, "of format None"),
    "no text": (with_file(PLAN, b"\xff"), ArchiveError, "This file is no text"),
    "unknown format": (facts_changed(format=2), ArchiveError, "of format 2; this Teiten knows format 1"),
    "newer Teiten": (facts_changed(teiten="1.0.1"), ArchiveError, "written by Teiten 1.0.1; this is 1.0.0"),
    "wrong type": (facts_changed(blocks="2"), ArchiveError, "A field is missing or has the wrong type"),
    "no zone": (facts_changed(created_at="2026-01-01"), ArchiveError, "A field is missing or has the wrong type"),
    "more fields": (facts_changed(moon=1), ArchiveError, "A field is missing or has the wrong type"),
    "no trials": (facts_changed(trials=[]), ArchiveError, "Trials are missing"),
    "same position": (trial_changed(position=1), ArchiveError, "two have the same position"),
    "no such configuration": (
        trial_changed(configuration=99),
        ArchiveError,
        "a configuration or block that there is not",
    ),
    "waiting": (trial_changed(state="waiting"), ArchiveError, "has not ended"),
    "running attempt": (trial_changed(attempt={"state": "running"}), ArchiveError, "does not fit its attempts"),
    "counts a lost one": (trial_changed(counted=1), ArchiveError, "does not fit its attempts"),
    "failed, yet counted": (trial_changed(state="failed"), ArchiveError, "does not fit its attempts"),
    "bundle elsewhere": (trial_changed(attempt={"bundle": "../x"}), ArchiveError, "has a bundle called '../x'"),
    "too large a number": (trial_changed(attempts_made=2**40), ArchiveError, "The warehouse cannot hold"),
    "negative": (trial_changed(attempts_made=-1), ArchiveError, "The warehouse cannot hold"),
    "no such block": (trial_changed(block=3), ArchiveError, "a configuration or block that there is not"),
    "a billion blocks": (facts_changed(blocks=10**9), ArchiveError, "not one trial a configuration and block"),
    "unknown levels": (configuration_changed(levels={"moon": "full"}), ArchiveError, "has levels that its plan"),
    "other factors": (configuration_changed(levels={}), ArchiveError, "has levels that its plan does not have"),
    "unknown workload": (spec_changed(workload="moon"), ArchiveError, "specification of a configuration cannot be"),
    "odd parameters": (spec_changed(parameters=[1]), ArchiveError, "specification of a configuration cannot be read"),
    "agents that are none": (spec_changed(agents=None), ArchiveError, "has no agents"),
    "NUL": (facts_changed(address="\0"), ArchiveError, "The warehouse cannot hold"),
    "too long": (facts_changed(address="x" * 301), ArchiveError, "The warehouse cannot hold"),
    "other numbers": (no_numbers, ArchiveError, "This bundle gives other numbers here"),
    "of another trial": (trial_changed(bundle_key="7/7"), IngestError, "The bundle is of trial"),
    "another configuration": (spec_changed(threads=64), ArchiveError, "This bundle is of another configuration"),
    "no specification": (spec_changed(installation=1), ArchiveError, "specification of a configuration cannot be read"),
    "plan of unknown kind": (plan_changed(b'"pgbench"', b'"moon"'), PlanError, "moon"),
    "no plan": (with_file(PLAN, b"="), PlanError, "TOML"),
    "no bundle": (bundle_replaced(lambda content: b"moon"), ArchiveError, "cannot be unpacked"),
    "bundle cut off": (bundle_replaced(lambda content: content[BUNDLE][:-50]), ArchiveError, "cannot be unpacked"),
    "bundle of nothing": (bundle_replaced(lambda content: pack({})), IngestError, "no manifest"),
    "bundle of another attempt": (
        bundle_replaced(lambda content: content["bundles/00003-1.tar.gz"]),
        (ArchiveError, IngestError),  # type: ignore[dict-item]
        "The bundle is of trial|of another configuration",
    ),
    "bomb in a bundle": (bundle_replaced(lambda content: pack({"a": bytes(2**26)})), ArchiveError, "unpacked"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_archive_is_refused_and_nothing_of_it_stays(
    case: str, archive: Path, untouched: None, tmp_path: Path
) -> None:
    change, kind, what = BAD[case]
    content = content_of(archive)
    change(content)
    with pytest.raises(kind, match=what) as refused:
        entered(pack_zip(tmp_path / "bad.zip", content))
    assert refused.value.what
    assert refused.value.todo or refused.value.where


def rewritten(archive: Path, target: Path, change: Callable[[zipfile.ZipFile, dict[str, bytes]], None]) -> Path:
    """The archive, with further entries that no mapping of names can hold."""
    content = content_of(archive)
    with zipfile.ZipFile(target, "w") as opened:
        change(opened, content)
        for name, data in content.items():
            opened.writestr(name, data)
    return target


def add_link(opened: zipfile.ZipFile, content: dict[str, bytes]) -> None:
    entry = zipfile.ZipInfo(BUNDLE)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    opened.writestr(entry, "/etc/passwd")
    del content[BUNDLE]


def add_twice(opened: zipfile.ZipFile, content: dict[str, bytes]) -> None:
    opened.writestr(PLAN, b"name = 'evil'")
    with pytest.warns(UserWarning, match="Duplicate name"):
        opened.writestr(PLAN, content.pop(PLAN))


def add_bomb(opened: zipfile.ZipFile, content: dict[str, bytes]) -> None:
    opened.writestr(FACTS, bytes(2**24), zipfile.ZIP_DEFLATED)
    del content[FACTS]


def overlap(opened: zipfile.ZipFile, content: dict[str, bytes]) -> None:
    """Twenty files are one and the same part of the archive."""
    opened.writestr("bundles/0", content[BUNDLE])
    for number in range(1, 20):
        entry = copy(opened.filelist[0])
        entry.filename = entry.orig_filename = f"bundles/{number}"
        opened.filelist.append(entry)


def change_sum(opened: zipfile.ZipFile, content: dict[str, bytes]) -> None:
    content[PLAN] = content[PLAN].replace(b"16 against 18", b"16 against 19")


def leave_out_sum(opened: zipfile.ZipFile, content: dict[str, bytes]) -> None:
    lines = content[CHECKSUMS].decode().splitlines(keepends=True)
    content[CHECKSUMS] = "".join(line for line in lines if BUNDLE not in line).encode()


def sum_twice(opened: zipfile.ZipFile, content: dict[str, bytes]) -> None:
    content[CHECKSUMS] += content[CHECKSUMS]


def other_compression(opened: zipfile.ZipFile, content: dict[str, bytes]) -> None:
    opened.writestr(PLAN, content.pop(PLAN), zipfile.ZIP_BZIP2)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (add_link, "is no file but a link"),
        (add_twice, "There are several files called 'plan.toml'"),
        (add_bomb, "too large for what it takes in the archive"),
        (overlap, "take more than the archive itself"),
        (change_sum, "This file is not as it was exported"),
        (leave_out_sum, "This file has no checksum"),
        (sum_twice, "is no checksum, or a second one"),
        (other_compression, "is encrypted, or compressed in a way"),
    ],
)
def test_an_archive_that_no_export_writes_is_refused(
    change: Any, what: str, archive: Path, untouched: None, tmp_path: Path
) -> None:
    with pytest.raises(ArchiveError, match=what):
        entered(rewritten(archive, tmp_path / "bad.zip", change))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99, 0.9999])
def test_a_file_that_was_cut_off_is_refused(share: float, archive: Path, untouched: None, tmp_path: Path) -> None:
    cut = tmp_path / "cut.zip"
    cut.write_bytes(archive.read_bytes()[: int(share * archive.stat().st_size)])
    with pytest.raises(ArchiveError, match="The archive cannot be read"):
        entered(cut)


def test_a_flipped_bit_anywhere_in_a_bundle_is_found(archive: Path, untouched: None, tmp_path: Path) -> None:
    data = bytearray(archive.read_bytes())
    data[data.index(b"bundles/00000-2.tar.gz") + 2000] ^= 1
    bad = tmp_path / "bad.zip"
    bad.write_bytes(data)
    with pytest.raises(ArchiveError, match="cannot be read"):
        entered(bad)


def test_whatever_is_damaged_is_refused_in_words(archive: Path, untouched: None, tmp_path: Path) -> None:
    """Each of the archive's headers and its list of files, a byte at a time."""
    chance, whole, bad = random.Random(7), archive.read_bytes(), tmp_path / "bad.zip"
    headers = [match.start() for match in re.finditer(rb"PK(\x01\x02|\x05\x06)", whole)]
    places = [place for place in range(headers[0], len(whole)) if place % 2]
    refused = 0
    for place in places:
        data = bytearray(whole)
        data[place] = chance.randrange(256)
        bad.write_bytes(data)
        try:
            with research_archive.opened(bad) as opened:
                for _, attempt in opened.facts.attempts:
                    if attempt.bundle:
                        opened.copy_bundle(attempt, tmp_path / f"{place}-{Path(attempt.bundle).name}")
        except ArchiveError:
            refused += 1
    assert len(places) / 2 < refused < len(places)  # a date or an attribute may be anything


def test_limits_stand_before_anything_is_read(archive: Path, untouched: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, most, what in (
        ("MOST_ENTRIES", 5, "The archive has 12 files"),
        ("MOST_BYTES", archive.stat().st_size - 100, "The archive has more than"),
        ("MOST_TEXT_BYTES", 10, "This file is too large"),
        ("_DIRECTORY_BYTES", 100, "list of files is too long"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(limits if hasattr(limits, name) else research_archive, name, most)
            with pytest.raises(ArchiveError, match=what):
                entered(archive)
