"""An uploaded file → text, or an error that says why it is none. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from results.domain.errors import ImportedFileError
from results.domain.imports.values import SourceFile, TextFile
from results.domain.messages import gettext_lazy as _
from results.domain.units import format_quantity

LARGEST_FILE_BYTES = 64 * 1024**2
LARGEST_IMPORT_BYTES = 128 * 1024**2
MOST_BEYOND_ASCII_BYTES = 16 * 1024**2  # a single letter can make a text four times as large in memory as its file
MOST_FILES = 200
UTF_8 = "utf-8"
LATIN_1 = "latin-1"
# encodings that a CSV file may be in, as Python names them
ENCODINGS = {
    UTF_8: "UTF-8",
    "cp932": "Shift_JIS (CP932)",
    "euc_jp": "EUC-JP",
    "utf-16": "UTF-16",
    LATIN_1: "Latin-1",
}
_BINARY = _("The file is binary, not text.")
_UNPACK = _("Unpack it first where it is an archive.")
_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def require_size(sizes_bytes: Sequence[int]) -> None:
    """Raise ImportedFileError for more files, or larger ones together, than are read at once."""
    if len(sizes_bytes) > MOST_FILES:
        raise ImportedFileError(
            _("{count} files are too many.", count=len(sizes_bytes)),
            where="file",
            todo=_("Import {most} at once at most.", most=MOST_FILES),
        )
    if sum(sizes_bytes) > LARGEST_IMPORT_BYTES:
        raise ImportedFileError(
            _("The files have {size} together.", size=format_quantity(sum(sizes_bytes), "B")),
            where="file",
            why=_("Teiten reads {size} at once at most.", size=format_quantity(LARGEST_IMPORT_BYTES, "B")),
            todo=_("Import fewer files at once."),
        )


def require_readable(files: Sequence[SourceFile]) -> None:
    """Raise ImportedFileError for no files, too many, an empty or too large one, and the same one twice."""
    if not files:
        raise ImportedFileError(_("There is no file."), where="file", todo=_("Choose one or several files."))
    require_size([file.size_bytes for file in files])
    _require_ascii(files)
    seen: dict[str, str] = {}
    names: set[str] = set()
    for file in files:
        _require_size(file)
        if file.sha256 in seen:
            raise ImportedFileError(
                _("The file is the same as {name}.", name=seen[file.sha256]),
                where=file.name,
                why=_("Two trials with the very same output would be one measurement counted twice."),
                todo=_("Leave one of them out."),
            )
        if file.name in names:
            raise ImportedFileError(_("Two files have this name."), where=file.name, todo=_("Rename one of them."))
        seen[file.sha256] = file.name
        names.add(file.name)


def _require_ascii(files: Sequence[SourceFile]) -> None:
    """Raise ImportedFileError where large files are not plain ASCII, as every log of transactions is."""
    others = [file for file in files if not file.content.isascii()]
    size_bytes = sum(file.size_bytes for file in others)
    if size_bytes > MOST_BEYOND_ASCII_BYTES:
        raise ImportedFileError(
            _("{size} are in files with letters beyond ASCII.", size=format_quantity(size_bytes, "B")),
            where=others[0].name,
            why=_(
                "Teiten reads {size} of such files at once at most.",
                size=format_quantity(MOST_BEYOND_ASCII_BYTES, "B"),
            ),
            todo=_("Import fewer of them at once, or the program's final report without its log."),
        )


def _require_size(file: SourceFile) -> None:
    if not file.content.strip():
        raise ImportedFileError(
            _("The file is empty."), where=file.name, todo=_("Look whether the program's output went elsewhere.")
        )
    if file.size_bytes > LARGEST_FILE_BYTES:
        raise ImportedFileError(
            _("The file has {size}.", size=format_quantity(file.size_bytes, "B")),
            where=file.name,
            why=_("Teiten reads {size} at most.", size=format_quantity(LARGEST_FILE_BYTES, "B")),
            todo=_("Import the program's final report without its log."),
        )


def possible_encodings(content: bytes) -> list[str]:
    """Return the encodings that the bytes are text in. A byte order mark decides, and so does text that is UTF-8: text
    in another encoding is none. Any bytes are Latin-1."""
    if content[:2] in _MARKS:
        return [_MARKS[content[:2]]]
    if _is_text(content, UTF_8):
        return [UTF_8]
    return [*(one for one in ("cp932", "euc_jp") if _is_text(content, one)), LATIN_1]


def suggested_encoding(content: bytes) -> str:
    """Return the encoding that is the likeliest one: Latin-1 where every byte beyond ASCII stands alone, since Japanese
    letters have two, else the first that is possible."""
    possible = possible_encodings(content)
    if LATIN_1 in possible and not re.search(rb"[\x80-\x9f]|[\x80-\xff]{2}", content):
        return LATIN_1
    return possible[0]


def _is_text(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def to_text(file: SourceFile, encoding: str = UTF_8) -> TextFile:
    """Decode a file. Raises ImportedFileError for one that is not text in this encoding."""
    try:
        text = file.content.decode("utf-8-sig" if encoding == UTF_8 else encoding)
    except UnicodeDecodeError as error:
        line = file.content[: error.start].count(b"\n") + 1
        binary = b"\0" in file.content
        where = f"{file.name}:{line}"
        if binary:
            raise ImportedFileError(_BINARY, where=where, todo=_UNPACK) from None
        raise ImportedFileError(
            _("The file is not {encoding} text.", encoding=ENCODINGS[encoding]),
            where=where,
            why=_("Byte {number} is 0x{byte:02x}.", number=error.start + 1, byte=file.content[error.start]),
            todo=_decoding_hint(file),
        ) from None
    if "\0" in text:
        raise ImportedFileError(_BINARY, where=file.name, todo=_UNPACK)
    return TextFile(file.name, text.replace("\r\n", "\n").replace("\r", "\n"))


def _decoding_hint(file: SourceFile) -> str:
    return _(
        "It may be {encoding}: choose that for a CSV file, or convert the file to UTF-8.",
        encoding=ENCODINGS[suggested_encoding(file.content)],
    )
