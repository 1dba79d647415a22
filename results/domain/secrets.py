"""Passwords and keys in texts, replaced by a word before anybody may read them. Pure.

A connection string keeps its host, port, user and database, which say what was connected to. Two different passwords
look the same then: no such difference changes a number. What is replaced has the shape of a secret: the value of
`password` and its kin in a connection string, an address, SQL or a command line; a stored verifier; a private key.

`masked_text` hides too much rather than too little: `password = p.old` too. A plan is run as it is written, so of it
`masked_plan` hides only what is a password itself.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

HIDDEN = "(hidden)"
_KEY = "(?:password|passwd|passphrase)"
_EQUALS = "(?:={1,2}+>?+|:=)"
# Quoted as in SQL and connection strings, within quotes of a shell, of SQL or of JSON; else to the line's end.
_QUOTED = r"""(?:
    '"'"'.*?'"'"' | ''[^'\n]+'' | \\'.*?\\' | \\".*?\\"
    | '(?:[^'\\\n]|\\.|'')*' | "(?:[^"\\\n]|\\.|"")*" | ['"][^\n]*
)"""
# What stands for a value that is elsewhere: $1 of SQL, %s of format(), :'x' of psql, $X and $(…) of a shell; the end of
# a text to which the value is appended.
_PLACEHOLDER = r"""(?:
    (?: \$\d+ | %[sL] | \$\{?(?-i:[A-Z_][A-Z0-9_]*)\}? ) (?= [\s'"&;,@)}\]] | \Z )
    | :['"] | \$\( | ['"]\s*+(?: :\w | \|\| )
)"""
_NOT_YET = rf"(?! ['\"]?\(hidden\) | {_PLACEHOLDER} )"
_SECRETS = re.compile(
    rf"""
    (?P<json> {_KEY}" \s*+:\s*+ " ) {_NOT_YET} (?:[^"\\\n]|\\.)+ (?=")    # "password": "…" keeps its quotes
    | (?P<quoted>
        {_KEY} (?: \\{{0,3}}["']\s*+:\s*+ | \s*+:(?=\s+["'])\s*+ | (?:\\{{0,3}}["'])?\s*+{_EQUALS}\s*+ ) {_NOT_YET}
        (?: [\w.]{{0,64}}+ \s*+ \( \s*+ ){{0,4}}+ {_NOT_YET}    # = crypt('…', = ('…')
    ) (?: (?:U&|[ENBX])?(?=')|(?=["\\]) ) {_QUOTED}
    | (?P<dollars> {_KEY} (?: \s*+{_EQUALS}\s*+ | \s++ ) ) \$(?P<tag>\w*)\$.*?\$(?P=tag)\$
    | (?P<query> (?: (?<=[?&]) | (?<=[?&]ssl) ) {_KEY}= ) {_NOT_YET} [^\s'"&]+
    | (?P<word> {_KEY} (?:\\{{0,3}}["'])? [ \t]*+{_EQUALS}[ \t]*+ ) {_NOT_YET}
        (?! (?:[\w.]{{0,64}}+[ \t]*+\([ \t]*+){{1,4}} ['"]?\(hidden\) )
        (?: [^\s'"\\] | \\(?!['"]) )+
    | (?P<sql> {_KEY} \s++ ) {_NOT_YET} (?: (?:U&|[ENBX])?(?=')|(?=["\\]) ) {_QUOTED}
    | (?P<option> (?<=-){_KEY}[ \t]++ ) {_NOT_YET} (?![-|<>&;]) [^\s'"]+    # --password …
    | (?P<row> {_KEY} [^()\n]{{0,256}} \)=\( ) {_NOT_YET} (?: [^\n]*(?=\)) | [^\n]+ )    # Key (password)=(…)
    | (?P<address> ://[^\s:/@'"]{{0,256}} ) :(?!\(hidden\)@|{_PLACEHOLDER}) [^\s/'"]{{1,4096}} (?=@)
    | (?P<bearer> Bearer [ \t]++ ) (?!\(hidden\)) [\w.~+/=-]+
    | SCRAM-SHA-256\$\d+:[\w+/=]+\$[\w+/=]+:[\w+/=]+
    | \bmd5[0-9a-f]{{32}}\b
    | \bteiten_[\w-]{{43}}
    | -----BEGIN\ [A-Z\ ]{{0,40}}PRIVATE\ KEY-----[\s\S]*?(?:-----END\ [A-Z\ ]{{0,40}}PRIVATE\ KEY-----|\Z)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_KEPT = ("json", "quoted", "dollars", "query", "word", "sql", "option", "row", "address", "bearer")
# A line that holds a name and one word as its value, as in YAML.
_YAML = re.compile(
    rf"""
    ^ (?P<kept> [ \t]* (?:-[ \t]+)? ["']? [\w.-]{{0,64}}? {_KEY} ["']? : [ \t]++ )
    (?! \(hidden\) | ['"|>] | {_PLACEHOLDER} ) \S+ (?= [ \t\r]*$ )
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
# With one of these each alternative of _SECRETS begins.
_STARTS = ("password", "passwd", "passphrase", "://", "bearer", "scram-sha-256$", "md5", "teiten_", "-----begin ")
_SECRET_NAME = re.compile(r".*(password|passwd|passphrase|secret)(_command)?", re.IGNORECASE)
# Within these JSON hides something: by a name also what has no shape.
_IN_JSON = tuple(start.encode() for start in (*_STARTS, "secret"))
_JSON_LINE = re.compile(rb"^[ \t]*[{\[]", re.MULTILINE)
_JSON_TEXT = re.compile(r'(?P<name>"(?:[^"\\]|\\.)*")(?P<colon>\s*:\s*)(?P<value>"(?:[^"\\]|\\.)*")?|"(?:[^"\\]|\\.)*"')
_BINARY_WITHIN = 8192
_LONGEST_LINE = 1024**2  # that is read to its end, in bytes

# For plans: what makes an unquoted word a value of a connection string, and a text a password of SQL.
_PAIR = r"(?:host|hostaddr|port|user|dbname|service|options|application_name|connect_timeout|ssl\w*)\s?=\s?"
_PAIR_BEFORE = re.compile(rf"(?:\b{_PAIR}(?:'[^']*'|[^\s,]+)\s+|\bPG|ssl|--|(?-i:[A-Z]_))\Z", re.IGNORECASE)
_PAIR_AFTER = re.compile(rf"[ \t]+{_PAIR}", re.IGNORECASE)
_COMMENT = re.compile(r"(?<!\S)--(?!\w)[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_SETS_PASSWORD = re.compile(r"\b(?:create|alter)\s+(?:role|user|group)\b|\boptions\s*\(", re.IGNORECASE)
_REACH = 500  # characters before a place that say what it is


def masked_text(text: str) -> str:
    """Return the text with every secret in it replaced by '(hidden)'.

    Looking for the beginnings of secrets first takes a twelfth of the time: 20 MB/s of a server's log, not 1.7.
    """
    lower = text.lower()
    if not any(start in lower for start in _STARTS):
        return text
    return _replaced(_YAML.sub(rf"\g<kept>{HIDDEN}", text), _hidden)


def masked_plan(text: str) -> str:
    """Return a text of a plan with the passwords and keys that stand in it replaced; what names a column, a variable
    or a function stays."""
    return _replaced(text, lambda match: _hidden(match) if _is_literal(match) else match[0])


def _replaced(text: str, replacement: Callable[[re.Match[str]], str]) -> str:
    lower = text.lower()
    found = [start for start in _STARTS if start in lower]
    if not found:
        return text
    if len(lower) != len(text):  # as of a Turkish İ: places in one are none in the other
        return _SECRETS.sub(replacement, text)
    pieces, end = [], 0
    for place in sorted(place for start in found for place in _places(lower, start)):
        match = _SECRETS.match(text, place) if place >= end else None
        if match:
            pieces += [text[end:place], replacement(match)]
            end = match.end()
    return "".join([*pieces, text[end:]])


def masked(name: str, value: str, mask: Callable[[str], str] = masked_text) -> str:
    """Return a value that is known by a name: hidden where the name says what it is, else its text masked."""
    if value and _SECRET_NAME.fullmatch(name):
        return HIDDEN
    return mask(value)


def masked_values(value: Any, mask: Callable[[str], str] = masked_text) -> Any:
    """Return a JSON value with every text in it masked, by its key where it has one."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {
            key: masked(key, one, mask) if isinstance(one, str) else masked_values(one, mask)
            for key, one in value.items()
        }
    if isinstance(value, (list, tuple)):
        return type(value)(masked_values(one, mask) for one in value)
    return value


def masked_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a trial's specification as a bundle holds it: as the plan was written, without what is a password.

    Masked once more it is the same: so two of them are compared, of which either may be masked.
    """
    return dict(masked_values(spec, masked_plan))


def masked_bytes(content: bytes) -> bytes:
    """Return a file's content masked; a file that is no text, as a NUL byte in its beginning tells, as it is.

    JSON, the whole file or one line of it, stays JSON, with the same numbers.
    """
    return content if b"\0" in content[:_BINARY_WITHIN] else _masked_file(content)


def _masked_file(content: bytes) -> bytes:
    if not _is_suspect(content):
        return content
    if not _JSON_LINE.search(content):
        return _masked_lines(content)
    whole = _masked_json(content)
    return b"".join(_line_by_line(content)) if whole is None else whole


def _line_by_line(content: bytes) -> Iterator[bytes]:
    """Lines of JSON each by itself; the others together, since a private key goes over several."""
    lines = ((line, _masked_json(line)) for line in content.splitlines(keepends=True))
    for is_text, run in itertools.groupby(lines, key=lambda one: one[1] is None):
        if is_text:
            yield _masked_lines(b"".join(line for line, _ in run))
        else:
            yield from (json_line for _, json_line in run if json_line is not None)


def _masked_lines(content: bytes) -> bytes:
    return masked_text(content.decode("latin-1")).encode("latin-1")


def _is_suspect(content: bytes) -> bool:
    lower = content.lower()
    return any(start in lower for start in _IN_JSON)


def _masked_json(content: bytes) -> bytes | None:
    """Return JSON with the secrets in its texts hidden, all else to the byte; None for what is no JSON, or more than
    one value."""
    if not _JSON_LINE.match(content.lstrip()):
        return None
    if not _is_suspect(content):
        return content
    text = content.decode("utf-8", "replace")
    try:
        json.loads(text)
    except (ValueError, RecursionError):  # no JSON: it is masked as text
        return None
    hidden = _JSON_TEXT.sub(_masked_json_text, text)
    return content if hidden == text else hidden.encode()


def _masked_json_text(match: re.Match[str]) -> str:
    if match["name"] is None:
        return _json_text(match[0])
    value = match["value"]
    return match["name"] + match["colon"] + (_json_text(value, json.loads(match["name"])) if value else "")


def _json_text(token: str, name: str = "") -> str:
    text = json.loads(token)
    hidden = masked(name, text)
    return token if hidden == text else json.dumps(hidden)


def _places(text: str, start: str) -> Iterator[int]:
    place = text.find(start)
    while place >= 0:
        yield place
        place = text.find(start, place + 1)


def _hidden(match: re.Match[str]) -> str:
    kept = next((kept for name in _KEPT if (kept := match[name])), "")
    return kept + (f":{HIDDEN}" if match["address"] else HIDDEN)


def _is_literal(match: re.Match[str]) -> bool:
    """Return whether what would be hidden is itself a password, and none of a column's name, a variable, prose."""
    kind = next((name for name in _KEPT if match[name]), "")
    value = match[0].removeprefix(match[kind]) if kind else match[0]
    decide = _LITERALS.get(kind)
    return decide is None or decide(match, value)


def _is_text(value: str) -> bool:
    """Whether it is a quoted text, and not empty nor cut short."""
    return value[-1] in "'\"" and bool(value.strip("'\"\\"))


def _in_connection_string(match: re.Match[str]) -> bool:
    text, place = match.string, match.start()
    before = text[max(0, place - _REACH) : place]
    begins = not before or (before[-1] in "'\"" and not set(match["word"]) & set("'\""))
    return begins or bool(_PAIR_BEFORE.search(before) or _PAIR_AFTER.match(text, match.end()))


def _in_statement(match: re.Match[str]) -> bool:
    """Whether the statement up to this place gives a role or a user mapping its password, and this is no comment."""
    before = match.string[max(0, match.start() - _REACH) : match.start()]
    if any(comment.end() == len(before) and not comment[0].endswith("*/") for comment in _COMMENT.finditer(before)):
        return False
    return bool(_SETS_PASSWORD.search(_COMMENT.sub(" ", before).rpartition(";")[2]))


# By the alternative of _SECRETS that matched; what is not here is always a password.
_LITERALS: Mapping[str, Callable[[re.Match[str], str], bool]] = {
    "word": lambda match, value: ":" not in match["word"] + value[:1] and _in_connection_string(match),
    "sql": lambda match, value: value[0] != '"' and _is_text(value) and _in_statement(match),
    "dollars": lambda match, _: "=" in match["dollars"] or _in_statement(match),
    "quoted": lambda _, value: _is_text(value),
    "bearer": lambda _, value: len(value) >= 20,
    "option": lambda *_: False,
    "row": lambda *_: False,
}


def masked_pieces(content: IO[bytes], piece_bytes: int = 8 * 1024**2) -> Iterator[bytes]:
    """Yield a long file masked as `masked_bytes` does, in pieces that end with a line and cut no private key in two.

    What else of a secret goes over several lines is hidden where both ends are in one piece."""
    piece = content.read(piece_bytes)
    is_text = b"\0" not in piece[:_BINARY_WITHIN]
    while piece:
        piece += content.readline(_LONGEST_LINE)
        while _ends_within_a_key(piece) and len(piece) < 2 * piece_bytes and (line := content.readline(_LONGEST_LINE)):
            piece += line
        yield _masked_file(piece) if is_text else piece
        piece = content.read(piece_bytes)


def _ends_within_a_key(piece: bytes) -> bool:
    return piece.rfind(b"-----BEGIN ") > piece.rfind(b"-----END ")
