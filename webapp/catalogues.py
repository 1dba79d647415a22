"""The translations: written as locale/LANGUAGE/LC_MESSAGES/django.po, of Teiten in the checkout and of each kind in the
kind's own folder, and in the TOML of each ready plan and published table; compiled into one file a language, in the
state folder, which Django reads. api.po has the texts of the API's reference, in a context of their own."""

from __future__ import annotations

import io
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po, write_po
from django.conf import settings

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.plan.recipes import translations
from results.published.catalogue import translations as translations_of_tables
from results.published.tables import FOLDER

_HEAD = """\
msgid ""
msgstr ""
"Language: {language}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: {plurals}\\n"

"""


def sources(language: str, checkout: Path, kinds: Iterable[Path]) -> list[Path]:
    """Return the files of translations into a language, Teiten's own first.

    kinds: folders of groups of kinds, as TEITEN_KINDS has them
    """
    name = f"locale/{language}/LC_MESSAGES/django.po"
    own = (checkout / name, of_api(language, checkout))
    return [path for path in own if path.is_file()] + [
        path for folder in kinds for path in sorted(folder.glob(f"*/*/{name}"))
    ]


def of_api(language: str, checkout: Path) -> Path:
    """Return the file of the translations of the API's reference."""
    return checkout / f"locale/{language}/LC_MESSAGES/api.po"


def update(path: Path, language: str, context: str, texts: Mapping[str, str]) -> None:
    """Bring a file of translations up to date with the texts that there are: new ones are empty, others are gone.

    texts: each with where it stands
    """
    before = read(path) if path.is_file() else Catalog(locale=language)
    catalogue = Catalog(locale=language)
    for text, place in texts.items():
        known = before.get(text, context)
        translated, flags, comments = (known.string, known.flags, known.user_comments) if known else ("", (), ())
        message = catalogue.add(
            text, translated, context=context, flags=flags, user_comments=comments, auto_comments=(place,)
        )
        message.flags.discard("python-format")  # Babel takes "95 % interval" for one
    content = io.BytesIO()
    write_po(content, catalogue, width=0, omit_header=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_HEAD.format(language=language, plurals=catalogue.plural_forms).encode() + content.getvalue())


def read(path: Path) -> Catalog:
    """Read one file of translations. Raises TeitenError with the line that is wrong."""
    try:
        with path.open("rb") as file:
            return read_po(file, abort_invalid=True)
    except (PoFileError, ValueError) as error:
        raise TeitenError(
            _("The translations cannot be read."),
            where=str(path),
            why=str(error),
            todo=_("Mend the line that is named, or take the file from the release again."),
        ) from error


def merged(paths: Iterable[Path], language: str) -> Catalog:
    """Return one catalogue of all files: of a message that several have, the first translation counts.

    It has no date of its own: of the same files it is the same.
    """
    catalogue = Catalog(locale=language, creation_date=datetime.fromtimestamp(0, UTC))
    for path in paths:
        for message in read(path):
            if message.id and not message.fuzzy and catalogue.get(message.id, message.context) is None:
                catalogue.add(message.id, message.string, context=message.context)
    return catalogue


def compile_all() -> list[Path]:
    """Compile the translations of Teiten and of all kinds; return the files, one a language.

    English has no translations: it is what the code has. Raises TeitenError.
    """
    return [_write(target, content) for target, content in _compiled()]


def stale() -> list[Path]:
    """Return the files that are not what `compile_all` would write now."""
    return [target for target, content in _compiled() if not target.is_file() or target.read_bytes() != content]


def _compiled() -> Iterator[tuple[Path, bytes]]:
    """Yield for each language where Django looks for its catalogue, and what belongs there."""
    kinds = [settings.BASE_DIR / "workers", *settings.TEITEN_KINDS]
    for language, _name in settings.LANGUAGES:
        if paths := sources(language, settings.BASE_DIR, kinds):
            catalogue = merged(paths, language)
            for english, text in (_of_ready_plans(language) | translations_of_tables(FOLDER, language)).items():
                catalogue.add(english, text)
            content = io.BytesIO()
            write_mo(content, catalogue)
            yield settings.TEITEN_CATALOGUES / language / "LC_MESSAGES" / "django.mo", content.getvalue()


def _of_ready_plans(language: str) -> dict[str, str]:
    """Return English → translation of the texts of all ready plans; a file that is no TOML is named where they are."""
    texts: dict[str, str] = {}
    for path in sorted(settings.TEITEN_PLAN_DIR.glob("*.toml")):
        with suppress(tomllib.TOMLDecodeError, UnicodeDecodeError):
            texts |= translations(tomllib.loads(path.read_text(encoding="utf-8")), language)
    return texts


def _write(target: Path, content: bytes) -> Path:
    """Write a file in one step: a process that starts meanwhile reads the old one or the new one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"{target.name}.{os.getpid()}")
    partial.write_bytes(content)
    return partial.replace(target)
