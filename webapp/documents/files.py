"""A document as files: PDF, HTML, Markdown, reStructuredText, LaTeX."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from django.utils.translation import pgettext

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from webapp.documents.page import RIGHT, alone, body, drawn
from webapp.documents.parts import Document, Plate
from webapp.documents.words import in_language
from webapp.drawing.style import IN_TEXT, JAPANESE, SHAPES, has_japanese, japanese_font

PROVENANCE = "provenance.json"
_RIGHT = re.compile(rf"(<t[dh][^>]*) {RIGHT}")
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same document is the same file
_FONT = "@font-face {{ font-family: IPAexGothic; src: url({}) }}"


@dataclass(frozen=True)
class Form:
    """What a document can be written as.

    suffix: of its file's name.
    label: as pages call it."""

    suffix: str
    label: str
    content_type: str
    written: Callable[[Document, str], bytes]


def packed(files: Mapping[str, bytes]) -> bytes:
    """Return a ZIP archive of these files."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(zipfile.ZipInfo(name, _ZIP_EPOCH), content, zipfile.ZIP_DEFLATED)
    return archive.getvalue()


def unpacked(archive: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as source:
        return {name: source.read(name) for name in source.namelist()}


def provenance_file(facts: Mapping[str, Any]) -> bytes:
    return json.dumps(facts, ensure_ascii=False, indent=2).encode()


def _as_html(document: Document, _name: str) -> bytes:
    return alone(document).encode()


def _as_pdf(document: Document, name: str) -> bytes:
    """Return pages with their contents, numbers, and the letters of all their scripts; the provenance is attached."""
    weasyprint = load_weasyprint()
    fonts = weasyprint.text.fonts.FontConfiguration()
    font = weasyprint.URLFetcher(allowed_protocols=["file"])
    style = weasyprint.CSS(string=_FONT.format(japanese_font().as_uri()), font_config=fonts, url_fetcher=font)
    attached = weasyprint.Attachment(string=provenance_file(document.facts), name=PROVENANCE)
    # nothing in a text that a user wrote makes Teiten ask a server or read a file
    page = weasyprint.HTML(string=alone(document), url_fetcher=weasyprint.URLFetcher(allowed_protocols=["data"]))
    return bytes(
        page.write_pdf(stylesheets=[style], font_config=fonts, attachments=[attached], pdf_identifier=name.encode())
    )


def load_weasyprint() -> Any:
    """Return the library that writes PDF. Raises TeitenError without Pango, which it calls."""
    try:
        import weasyprint
        import weasyprint.text.fonts
    except OSError as error:
        raise TeitenError(
            _("PDF needs Pango, which is not installed here."),
            where="pdf",
            why=str(error),
            todo=_("Install libpango-1.0-0, libpangoft2-1.0-0 and libharfbuzz-subset0, or take the HTML."),
        ) from error
    return weasyprint


def _figures(document: Document, form: str) -> tuple[dict[str, bytes], Callable[[Plate], str]]:
    """Return the files of the figures, and the name of each."""
    files, names = {}, {}
    for number, plate in enumerate(document.plates, 1):
        names[id(plate)] = f"figures/figure-{number}-{plate.name}.{form}"
        files[names[id(plate)]] = drawn(plate, form, SHAPES["print"] if form == "pdf" else IN_TEXT)
    return files, lambda plate: names[id(plate)]


def _by_pandoc(
    target: str, suffix: str, figures: str, *, numbers: bool = True, standalone: bool = False
) -> Callable[[Document, str], bytes]:
    def written(document: Document, name: str) -> bytes:
        files, source = _figures(document, figures)
        html = body(document, source, numbers=numbers)
        text = _converted(document, html, target, standalone=standalone)
        return packed({f"{name}.{suffix}": text.encode(), **files, PROVENANCE: provenance_file(document.facts)})

    return written


def _converted(document: Document, html: str, target: str, *, standalone: bool) -> str:
    import pypandoc

    html = _RIGHT.sub(r'\1 style="text-align: right"', html)  # which Pandoc reads

    options = ["--wrap=none", "--sandbox"]
    if standalone:
        options += ["--standalone", f"--metadata=title:{document.title}", f"--metadata=date:{document.subtitle}"]
        texts = [document.title, document.subtitle, *document.authors, html]
        options += [f"--metadata=author:{name}" for name in document.authors]
        options += ["--number-sections", "--shift-heading-level-by=-1"]
        options += ["-V", "geometry=margin=25mm", "-V", "colorlinks=true"]
        options += ["-V", f"CJKmainfont={JAPANESE}"] if has_japanese(" ".join(texts)) else []
        options += ["-V", f"header-includes={_words_of_captions(document.language)}"]
    else:
        head = "".join(f"<p>{escape(line)}</p>" for line in (", ".join(document.authors), document.subtitle) if line)
        html = f"<h1>{escape(document.title)}</h1>{head}{html}"
    return str(pypandoc.convert_text(html, target, format="html", extra_args=options))


def _words_of_captions(language: str) -> str:
    """Return LaTeX that names figures and tables in the language."""
    with in_language(language):
        figure, table = pgettext("block of a report", "Figure"), pgettext("block of a report", "Table")
    return rf"\renewcommand{{\figurename}}{{{figure}}}\renewcommand{{\tablename}}{{{table}}}"


FORMS = {
    form.suffix: form
    for form in (
        Form("pdf", "PDF", "application/pdf", _as_pdf),
        Form("html", "HTML", "text/html; charset=utf-8", _as_html),
        Form("md.zip", "Markdown", "application/zip", _by_pandoc("gfm-raw_html-attributes", "md", "svg")),
        Form("rst.zip", "reStructuredText", "application/zip", _by_pandoc("rst", "rst", "svg")),
        Form(
            "tex.zip",
            "LaTeX",
            "application/zip",
            _by_pandoc("latex", "tex", "pdf", numbers=False, standalone=True),
        ),
    )
}
