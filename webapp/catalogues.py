"""The translations: written as locale/LANGUAGE/LC_MESSAGES/django.po, of Teiten in the checkout and of each kind in the
kind's own folder, and in the TOML of each ready plan; compiled into one file a language, in the state folder, which
Django reads."""

from __future__ import annotations

import io
import os
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po
from django.conf import settings

from results.domain.errors import TeitenError
from results.domain.plan.recipes import translations


def sources(language: str, checkout: Path, kinds: Iterable[Path]) -> list[Path]:
    """Return the files of translations into a language, Teiten's own first.

    kinds: folders of groups of kinds, as TEITEN_KINDS has them
    """
    name = f"locale/{language}/LC_MESSAGES/django.po"
    return [path for path in (checkout / name,) if path.is_file()] + [
        path for folder in kinds for path in sorted(folder.glob(f"*/*/{name}"))
    ]


def read(path: Path) -> Catalog:
    """Read one file of translations. Raises TeitenError with the line that is wrong."""
    try:
        with path.open("rb") as file:
            return read_po(file, abort_invalid=True)
    except (PoFileError, ValueError) as error:
        raise TeitenError(
            "The translations cannot be read.",
            where=str(path),
            why=str(error),
            todo="Mend the line that is named, or take the file from the release again.",
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
    for language, _ in settings.LANGUAGES:
        if paths := sources(language, settings.BASE_DIR, kinds):
            catalogue = merged(paths, language)
            for english, text in _of_ready_plans(language).items():
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
