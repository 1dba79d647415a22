"""Requests with texts of `payloads`, and what no answer to them may be."""

from __future__ import annotations

import csv
import io
import logging
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

import openpyxl
from django.conf import settings
from django.db import transaction
from django.http import HttpResponseBase
from django.test import Client

from tests.webapp.payloads import CALL, HEADER, SUM

log = logging.getLogger(__name__)
OF_AGENTS = re.compile(r"/contact/|/remove-clusters/|/clusters/$")  # 502 says that an agent cannot be reached
SECRETS = {"/etc/passwd": "root:x:0:", "a filled-in template": str(sum(SUM)), "a filled-in format": "<class '"}
NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?|[-+]?(inf|nan)")
FORMULA = ("=", "+", "-", "@", "\t", "\r")
WHOLE_TEX = re.compile(r"\\begin\{(verbatim|Verbatim)\}.*?\\end\{\1\}", re.DOTALL)
ACTIVE_TEX = re.compile(r"\\(input|include|immediate|write18|write|openin|read)\b(?!graphics)")


@dataclass
class Form:
    """A form of a page. fields: what it sends when nobody changes it; files: names of those that take one."""

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)


class Page(HTMLParser):
    """What a page links to and asks for, and what would run in it."""

    def __init__(self, text: str, path: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.forms: list[Form] = []
        self.running: list[str] = []
        self._path = path
        self._script = False
        self._area = self._select = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.running += [f"<{tag} {name}={value!r}>" for name, value in values.items() if _runs(name, value)]
        if tag == "img" and values.get("src") == "x":
            self.running.append("<img src=x>")
        self._script = tag == "script" and "json" not in values.get("type", "")
        self.links += [values[name] for name in ("href", "hx-get") if name in values and tag != "link"]
        if tag == "form":
            action = urljoin(self._path, values.get("action") or values.get("hx-post") or "")
            self.forms.append(Form(action, values.get("method", "post" if "hx-post" in values else "get").lower()))
        elif self.forms:
            self._field(tag, values)

    def _field(self, tag: str, values: dict[str, str]) -> None:
        form, name = self.forms[-1], values.get("name", "")
        if tag == "option" and self._select:
            if "selected" in values or self._select not in form.fields:
                form.fields[self._select] = values.get("value", "")
        elif not name:
            return
        elif values.get("type") == "file":
            form.files.append(name)
        elif tag == "select":
            self._select = name
        elif tag == "textarea":
            self._area = name
            form.fields[name] = ""
        elif tag in ("input", "button") and (values.get("type") not in ("radio", "checkbox") or "checked" in values):
            form.fields[name] = values.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = ""
        elif tag == "textarea":
            self._area = ""
        elif tag == "script":
            self._script = False

    def handle_data(self, data: str) -> None:
        if self._script and CALL in data:
            self.running.append(f"<script>{data[:80]}")
        if self._area and self.forms:
            self.forms[-1].fields[self._area] += data


def _runs(name: str, value: str) -> bool:
    """Return whether an attribute runs a script."""
    if name in ("href", "src", "action", "formaction", "xlink:href", "hx-get", "hx-post", "data"):
        address = re.sub(r"[\x00-\x20]", "", value).lower()
        return address.startswith(("javascript:", "vbscript:", "data:text/html"))
    return name.startswith("on") or name == "srcdoc"


@dataclass
class Attack:
    """Asks, looks at each answer, and counts.

    wrong: what was found, a line each.
    showing: answers that have the name of the script that texts call."""

    requests: int = 0
    places: int = 0
    wrong: list[str] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    showing: int = 0

    def ask(self, client: Client, method: str, url: str, *, keep: bool = False, **rest: Any) -> HttpResponseBase:
        """Send a request, and note what is wrong with its answer. keep: what it changes stays."""
        with transaction.atomic():
            answer: Any = getattr(client, method)(url, **rest)
            content = answer.getvalue()
            if not keep or answer.status_code >= 400:
                transaction.set_rollback(True)
        self.requests += 1
        self.showing += CALL.partition("(")[0].encode() in content
        self.statuses[answer.status_code] += 1
        what = f"{method} {url[:300]} {str(rest)[:300]}"
        self.wrong += [f"{problem}: {what}" for problem in _problems(answer, content, url)]
        return answer

    def __str__(self) -> str:
        by_status = ", ".join(f"{status}: {count}" for status, count in sorted(self.statuses.items()))
        return f"{self.requests} requests at {self.places} places ({by_status})"


def _problems(answer: Any, content: bytes, url: str) -> Iterator[str]:
    if answer.status_code >= 500 and not (answer.status_code == 502 and OF_AGENTS.search(urlsplit(url).path)):
        yield f"{answer.status_code} {getattr(answer, 'exc_info', None) or content[:300]!r}"
    if answer.headers.get("X-Content-Type-Options") != "nosniff":
        yield "no nosniff"
    if HEADER in answer.headers or any("\r" in value or "\n" in value for value in answer.headers.values()):
        yield f"a header of the text's {answer.headers}"
    for name in ("Location", "HX-Redirect"):
        if leads_away(answer.headers.get(name, "")):
            yield f"leads to {answer.headers[name]}"
    type_ = answer.headers.get("Content-Type", "")
    yield from _shown(content, type_)


def leads_away(address: str) -> bool:
    """Return whether a browser follows an address to another server, or runs it."""
    target = re.sub(r"[\x00-\x20]", "", address).replace("\\", "/")
    return target.startswith("//") or urlsplit(target).hostname not in (None, "testserver") or _runs("href", target)


def _shown(content: bytes, content_type: str) -> Iterator[str]:
    """Give what a file shows, and does where it is opened."""
    if content_type in ("application/zip", "zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                if name.startswith(("/", "..")) or "/../" in name:
                    yield f"a file {name} in an archive"
                yield from _shown(archive.read(name), _type_of(name))
        return
    text = content.decode(errors="replace")
    yield from (f"shows {what}" for what, secret in SECRETS.items() if secret in text)
    if settings.SECRET_KEY in text:
        yield "shows the secret key"
    if "text/html" in content_type or "svg" in content_type or "xml" in content_type.partition("officedocument")[0]:
        yield from Page(text, "").running
    elif "text/csv" in content_type:
        yield from (
            f"a formula {cell!r} in a CSV file"
            for row in csv.reader(io.StringIO(text))
            for cell in row
            if formula(cell)
        )
    elif "spreadsheetml" in content_type:
        yield from _formulas(content)
    elif content_type == "tex":
        yield from (f"LaTeX that runs: {found[0]}" for found in ACTIVE_TEX.finditer(WHOLE_TEX.sub("", text)))


def formula(cell: str) -> bool:
    """Return whether a spreadsheet computes a cell of a CSV file that is no number."""
    return cell.startswith(FORMULA) and not NUMBER.fullmatch(cell)


def _formulas(content: bytes) -> Iterator[str]:
    book = openpyxl.load_workbook(io.BytesIO(content))
    for sheet in book:
        for row in sheet.iter_rows():
            yield from (f"a formula {cell.value!r} in Excel" for cell in row if cell.data_type == "f" or cell.hyperlink)


def _type_of(name: str) -> str:
    suffix = name.rpartition(".")[2]
    types = {"html": "text/html", "svg": "image/svg+xml", "csv": "text/csv", "xlsx": "spreadsheetml", "zip": "zip"}
    return types.get(suffix, suffix)


def query_names(link: str) -> set[str]:
    return {name for name, _ in parse_qsl(urlsplit(link).query, keep_blank_values=True)}
