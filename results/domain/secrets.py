"""Passwords and keys in texts, replaced by a word before anybody may read them. Pure.

A connection string keeps its host, port, user and database, which say what was connected to. Two different passwords
look the same then: no such difference changes a number. What is replaced has the shape of a secret: the value of
`password` and its kin in a connection string, an address, SQL or a command line; a stored verifier; a private key.

`masked_text` hides too much rather than too little: `password = p.old` too. A plan is run as it is written, so of it
`masked_plan` hides only what is a password itself, and `masked_toml` also what the name of a setting says.
"""

from __future__ import annotations

import itertools
import json
import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any

HIDDEN = "(hidden)"
_KEY = "(?:password|passwd|passphrase)"
_NAME = rf"(?:{_KEY}|secret)"
_EQUALS = "(?:={1,2}+>?+|:=)"
# White space and comments of SQL; bounded, since each of many beginnings may read as far.
_GAP = r"(?: (?: \s*+ (?: /\* (?:[^*]|\*(?!/)){0,256}+ \*/ | --[^\n]{0,256}+\n ) ){0,4}+ \s*+ )"
# Quoted as in SQL and connection strings, within quotes of a shell, of SQL or of JSON; else to the line's end.
_QUOTED = r"""(?:
    '"'"'.*?'"'"' | ''[^'\n]+'' | \\'.*?\\' | \\".*?\\"
    | '(?:[^'\\\n]|\\.|'')*' | "(?:[^"\\\n]|\\.|"")*" | ['"][^\n]*
)"""
_QUOTED_LATER = r"""(?: (?:U&|[ENBX])?(?=')|(?=["\\]) )"""
_OUTPUT = r"(?: \$\( (?:[^()\n]|\([^()\n]*\))*+ \) | `[^`\n]*+` )"  # of a command in a shell
_WORD = rf"""(?: {_OUTPUT} | [^\s'"\\] | \\\\ | \\[^\S\n] | \\(?!['"]) | \\['"](?=\w) )+"""


def _placeholder(variable: str, more: str = "") -> str:
    """Return the expression of what stands, as the whole value, for one that is elsewhere: $1 of SQL, %s of format(),
    :'x' of psql; $X, $(…) and `…` of a shell, also in double quotes; or more."""
    shell = rf"(?: \$(?:{variable}|\{{{variable}\}}) | {_OUTPUT} )"
    ends = r"""(?= [\s'"&;,@|<>`)}\]] | :: | \\+["'nrt] | \Z )"""
    return rf"""(?: (?: {more} \$\d+ | %[sL] | :'\w+' | :"\w+" | {shell} | \\{{0,3}}"{shell}\\{{0,3}}" ) {ends} )"""


# Of a name in small letters a collected text does not tell whether it is a variable or a password that begins with $.
_PLACEHOLDER = _placeholder("(?-i:[A-Z_][A-Z0-9_]*)")
_PLAN_PLACEHOLDER = re.compile(_placeholder(r"\w+", r":\w+ |"), re.VERBOSE)
_NOT_YET = rf"(?! ['\"]?\(hidden\) | {_PLACEHOLDER} )"
_SECRETS = re.compile(
    rf"""
    (?P<json> {_NAME}(?:_command)?" \s*+:\s*+ " ) {_NOT_YET} (?:[^"\\\n]|\\.)+ (?=")    # "password": "…"
    | (?P<command> {_NAME}_command (?:\\{{0,3}}["'])?
        (?: (?P<rest> [ \t]*+:[ \t]*+ ) | \s*+=\s*+ | \s++(?:changed\s++)?to\s++(?=['"]) )
    ) (?! \[? ['"]*\(hidden\) ) (?:
        \[ (?: [^\]"'] | "[^"\n]*+" | '[^'\n]*+' ){{0,512}}+ \] |    # levels of a plan
        "{{3}}[\s\S]{{0,4096}}?"{{3}} | '{{3}}[\s\S]{{0,4096}}?'{{3}} | {_QUOTED}
        | (?(rest) [^\s\[{{] [^\n]* | (?![\[{{]) {_WORD} )
    )
    | (?P<secret> secret (?:\\{{0,3}}["'])? (?: \s*+=\s*+ | \s++changed\s++to\s++ ) {_NOT_YET} )
        {_QUOTED_LATER} {_QUOTED}
    | (?P<quoted>
        (?: {_NAME} \\{{0,3}}["']\s*+:\s*+ | {_KEY} \s*+:(?=\s+["'])\s*+
            | {_KEY} (?:\\{{0,3}}["'])? {_GAP}{_EQUALS}{_GAP} ) {_NOT_YET}
        (?: [\w.]{{0,64}}+ \s*+ \( \s*+ ){{0,4}}+ {_NOT_YET}    # = crypt('…', = ('…')
    ) {_QUOTED_LATER} {_QUOTED}
    | (?P<dollars> {_KEY} (?:\\{{0,3}}")? (?: {_GAP}{_EQUALS}{_GAP} | (?=\s|/\*|--){_GAP} ) )
        \$(?P<tag>\w*)\$.*?\$(?P=tag)\$
    | (?P<query> (?: (?<=[?&]) | (?<=[?&]ssl) ) {_KEY}= ) {_NOT_YET} [^\s'"&]+
    | (?P<word> {_KEY} (?:\\{{0,3}}["'])? [ \t]*+{_EQUALS}[ \t]*+ ) {_NOT_YET}
        (?! (?:[\w.]{{0,64}}+[ \t]*+\([ \t]*+){{1,4}} ['"]?\(hidden\) ) {_WORD}
    | (?P<sql> {_KEY} (?:\\{{0,3}}")? (?=\s|/\*|--){_GAP} ) {_NOT_YET} {_QUOTED_LATER} {_QUOTED}
    | (?P<option> (?<=-){_KEY}[ \t]++ ) {_NOT_YET} (?![-|<>&;'"]) {_WORD}    # --password …
    | (?P<item> (?<=-){_KEY} (?P<mark>\\{{0,3}}["']) \s*+,\s*+ (?P=mark) ) {_NOT_YET} (?!-)
        (?: (?!(?P=mark)) (?:\\.|[^\n]) )+    # "--password", "…"
    | (?P<row> {_KEY} [^()\n]{{0,256}} \)=\( ) {_NOT_YET} (?: [^\n]*(?=\)) | [^\n]+ )    # Key (password)=(…)
    | (?P<address> ://[^\s:/@'"]{{0,256}} : ) (?!\(hidden\)@|{_PLACEHOLDER}(?=@)) [^\s/'"]{{1,4096}} (?=@)
    | (?P<bearer> Bearer [ \t]++ ) (?!\(hidden\)) [\w.~+/=-]+
    | SCRAM-SHA-256\$\d+:[\w+/=]+\$[\w+/=]+:[\w+/=]+
    | \bmd5[0-9a-f]{{32}}\b
    | \bteiten_[\w-]{{43}}
    | -----BEGIN\ [A-Z\ ]{{0,40}}PRIVATE\ KEY-----[\s\S]*?(?:-----END\ [A-Z\ ]{{0,40}}PRIVATE\ KEY-----|\Z)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_KEPT = (
    *("json", "command", "secret", "quoted", "dollars", "query", "word", "sql", "option", "item", "row", "address"),
    "bearer",
)
# A line that holds a name and one word as its value, as in YAML.
_YAML = re.compile(
    rf"""
    ^ (?P<kept> [ \t]* (?:-[ \t]+)? ["']? [\w.-]{{0,64}}? {_KEY} ["']? : [ \t]++ )
    (?! \(hidden\) | ['"|>] | {_PLACEHOLDER} ) \S+ (?= [ \t\r]*$ )
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
# What an end of a quoted text is followed by, where a value is appended; and what a shell takes for the same word.
_APPENDED = re.compile(r"""['"]\s*+ (?: :['"]?\w | \|\| )""", re.VERBOSE)
_GLUED = re.compile(
    rf"""(?: "(?![,;:)\]}}'"]) (?:[^"\\\n]|\\.)*+ " | '(?![,;:)\]}}'"]) [^'\n]*+ ' | (?<=['"])(?=\w){_WORD} )""",
    re.VERBOSE,
)
# With one of these each alternative of _SECRETS begins.
_STARTS = (
    "password",
    "passwd",
    "passphrase",
    "secret",
    "://",
    "bearer",
    "scram-sha-256$",
    "md5",
    "teiten_",
    "-----begin ",
)
_SECRET_NAME = re.compile(r".*(password|passwd|passphrase|secret)(_command)?", re.IGNORECASE)
_IN_JSON = tuple(start.encode() for start in _STARTS)
_JSON_LINE = re.compile(rb"^[ \t]*[{\[]", re.MULTILINE)
_OPTION = rf"--?(?:[\w-]{{0,64}}-)?{_KEY}"
_JSON_TEXT = re.compile(
    rf"""
    (?P<option> "{_OPTION}" \s*,\s* ) (?P<argument> " (?!-) (?:[^"\\]|\\.)+ " )
    | (?P<name> "(?:[^"\\]|\\.)*" ) (?P<colon> \s*:\s* ) (?P<value> "(?:[^"\\]|\\.)*" )?
    | "(?:[^"\\]|\\.)*"
    """,
    re.VERBOSE | re.IGNORECASE,
)
_OPTION_NAME = re.compile(_OPTION, re.IGNORECASE)
_START = re.compile(f"(?={'|'.join(map(re.escape, _STARTS))})", re.IGNORECASE)
_WORDS = ("word", "quoted", "option", "sql")  # the alternatives whose values a shell may glue together
_TEXTS = ("quoted", "sql", "secret")  # those whose quote may be the end of a text
_BINARY_WITHIN = 8192
_LONGEST_LINE = 1024**2  # that is read to its end, in bytes
# Of a longer line, in bytes: how far beyond a cut, and before the end of what was read, a secret is looked for.
_BEYOND_CUT, _BEFORE_CUT = 8 * 1024, 64 * 1024

# For plans: what makes an unquoted word a value of a connection string, and a text a password of SQL.
_PAIR = r"(?:host|hostaddr|port|user|dbname|service|options|application_name|connect_timeout|ssl\w*)\s?=\s?"
_PAIR_BEFORE = re.compile(rf"(?:\b{_PAIR}(?:'[^']*'|[^\s,]+)\s+|\bPG|ssl|--|(?-i:[A-Z]_))\Z", re.IGNORECASE)
_PAIR_AFTER = re.compile(rf"[ \t]+{_PAIR}", re.IGNORECASE)
_COMMENT = re.compile(r"(?<!\S)--(?!\w)[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_SETS_PASSWORD = re.compile(r"\b(?:create|alter)\s+(?:role|user|group)\b|\boptions\s*\(", re.IGNORECASE)
_REACH = 500  # characters before a place that say what it is
_LINE_REACH = 2000  # that say whether it is quoted
_AROUND = 16  # beside a secret that tell it, as the - of --password and the @ of an address

# Of a shell: the rest of a name, words before an assignment, and programs whose --password has no argument.
_NAME_CHARACTERS = f"{string.ascii_letters}{string.digits}_-"
_ASSIGNED = re.compile(r"\w+=")
_BEFORE_ASSIGNMENTS = ("env", "local", "declare", "readonly", "typeset", "then", "do", "else", "{")
_ASKS = re.compile(r"\b(?:psql|pg_\w+|pgbench|(?:create|drop)(?:db|user)|(?:vacuum|reindex|cluster)db)\b")


def masked_text(text: str) -> str:
    """Return the text with every secret in it replaced by '(hidden)'.

    Looking for the beginnings of secrets first takes a twelfth of the time: 20 MB/s of a server's log, not 1.7.
    """
    lower = text.lower()
    if not any(start in lower for start in _STARTS):
        return text
    return _replaced(_YAML.sub(rf"\g<kept>{HIDDEN}", text))


def masked_end(text: str, limit: int = 600) -> str:
    """Return the end of a text without secrets; they are hidden before it is cut, while their names are there."""
    text = masked_text(text.strip())
    return text if len(text) <= limit else "…" + text[-limit:]


def masked_plan(text: str, *, in_shell: bool = False) -> str:
    """Return a text of a plan with the passwords and keys that stand in it replaced; what names a column, a variable
    or a function stays.

    in_shell: it is a shell script, in which a line may begin with an assignment
    """
    return _replaced(text, lambda match: _is_literal(match, in_shell))


def masked_toml(text: str) -> str:
    """Return a plan's TOML as `masked_plan` does, and without the commands of settings that print a passphrase."""
    return _replaced(text, lambda match: bool(match["command"]) or _is_literal(match))


def _replaced(text: str, is_secret: Callable[[re.Match[str]], bool] = lambda _: True) -> str:
    lower = text.lower()
    found = [start for start in _STARTS if start in lower]
    if not found:
        return text
    if len(lower) == len(text):
        places = sorted(place for start in found for place in _places(lower, start))
    else:  # as of a Turkish İ: places in one are none in the other
        places = [match.start() for match in _START.finditer(text)]
    pieces, end = [], 0
    for match, kind, match_end in _matches(text, places):
        if is_secret(match):
            pieces += [text[end : match.start()], _hidden(match, kind)]
            end = match_end
    return "".join([*pieces, text[end:]])


def _matches(text: str, places: Sequence[int]) -> Iterator[tuple[re.Match[str], str, int]]:
    """Yield each match at one of the places, the alternative that it is, and where its value ends; none in another."""
    end = 0
    for place in places:
        match = _SECRETS.match(text, place) if place >= end else None
        if match is None:
            continue
        kind = _kind(match)
        if _is_appended(match, kind):
            end = _value_start(match, kind) + 1
        else:
            end = _end_of_word(match) if kind in _WORDS else match.end()
            yield match, kind, end


def _kind(match: re.Match[str]) -> str:
    """The alternative of _SECRETS that matched; '' of one that has no name before its value."""
    return next((name for name in _KEPT if match[name]), "")


def _value_start(match: re.Match[str], kind: str) -> int:
    return match.end(kind) if kind else match.start()


def _hidden(match: re.Match[str], kind: str) -> str:
    """What stands for a match: a command of a setting stays a text, or a list of texts, of TOML."""
    kept = match[kind] if kind else ""
    begin = match.string[len(kept) + match.start()] if kind == "command" else ""
    marks = {"'": "''", '"': '""', "[": ('["', '"]')}.get(begin, ("", ""))
    return f"{kept}{marks[0]}{HIDDEN}{marks[1]}"


def _is_appended(match: re.Match[str], kind: str) -> bool:
    """Whether the quote after the name ends a text, to which the value is appended: 'password=' || x."""
    start = _value_start(match, kind)
    appended = kind in _TEXTS and _APPENDED.match(match.string, start)
    return bool(appended) and _is_open(match.string, match.start(), match.string[start])


def _is_open(text: str, place: int, quote: str) -> bool:
    """Whether a quote was opened before this place of a line."""
    begin = max(0, place - _LINE_REACH)
    return text.count(quote, max(begin, text.rfind("\n", begin, place) + 1), place) % 2 == 1


def _end_of_word(match: re.Match[str]) -> int:
    """Where a value ends for a shell, which takes a"b c"d for one word."""
    text, end = match.string, match.end()
    while glued := _GLUED.match(text, end):
        if text[end] in "'\"" and _is_open(text, match.start(), text[end]):
            break
        end = glued.end()
    return end


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
        befores = ("", *value)
        return type(value)(
            HIDDEN if _is_argument(before, one) else masked_values(one, mask)
            for before, one in zip(befores, value, strict=False)
        )
    return value


def _is_argument(before: Any, value: Any) -> bool:
    """Whether it is what an option for a password has as its argument: ["--password", "…"]."""
    words = isinstance(before, str) and isinstance(value, str)
    return words and bool(value) and value[0] != "-" and bool(_OPTION_NAME.fullmatch(before))


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
    if match["option"]:
        return match["option"] + json.dumps(HIDDEN)
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


def _is_literal(match: re.Match[str], shell: bool = False) -> bool:
    """Return whether what would be hidden is itself a password, and none of a column's name, a variable, prose."""
    kind = _kind(match)
    start = _value_start(match, kind)
    if _PLAN_PLACEHOLDER.match(match.string, start):
        return False
    decide = _LITERALS.get(kind)
    return decide is None or decide(match, match.string[start : match.end()], shell)


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


def _line_before(match: re.Match[str]) -> str:
    return match.string[max(0, match.start() - _REACH) : match.start()].rpartition("\n")[2]


def _is_assigned(match: re.Match[str], shell: bool) -> bool:
    """Whether a shell gives it to a variable: `export name=…`, and in its scripts name=… where a command begins."""
    if not _ASSIGNED.fullmatch(match["word"]):
        return False
    before = _line_before(match).rstrip(_NAME_CHARACTERS).rstrip()
    last = before.rpartition(" ")[2]
    if last == "export":
        return True
    return shell and (not before or before[-1] in ";&|({`" or last in _BEFORE_ASSIGNMENTS or "=" in last)


def _is_given(match: re.Match[str], shell: bool) -> bool:
    """Whether an option's argument is a password: not where SQL has a comment so, nor to PostgreSQL's own programs,
    which ask for it."""
    command = re.split("[|;&]", _line_before(match).rstrip(_NAME_CHARACTERS))[-1]
    return (shell or bool(command.strip())) and not _ASKS.search(command)


def _is_in_sql(match: re.Match[str], value: str, shell: bool) -> bool:
    if match.string[match.start() - 1 : match.start()] == "-":
        return _is_text(value) and _is_given(match, shell)
    return value[0] != '"' and _is_text(value) and _in_statement(match)


# By the alternative of _SECRETS that matched; what is not here is always a password.
_LITERALS: Mapping[str, Callable[[re.Match[str], str, bool], bool]] = {
    "word": lambda match, _, shell: (
        ":" not in match["word"] and (_in_connection_string(match) or _is_assigned(match, shell))
    ),
    "sql": _is_in_sql,
    "dollars": lambda match, *_: "=" in match["dollars"] or _in_statement(match),
    "quoted": lambda _, value, __: _is_text(value),
    "bearer": lambda _, value, __: len(value) >= 20,
    "option": lambda match, _, shell: _is_given(match, shell),
    "row": lambda *_: False,
    "command": lambda *_: False,
    "secret": lambda *_: False,
}


def masked_pieces(content: IO[bytes], piece_bytes: int = 8 * 1024**2) -> Iterator[bytes]:
    """Yield a long file masked as `masked_bytes` does, in pieces that end with a line and cut no private key in two.

    What else of a secret goes over several lines is hidden where both ends are in one piece. A line that is longer
    than a piece is cut between secrets, as far as each takes, with its name, at most 8 kB of the line."""
    piece = content.read(piece_bytes)
    is_text = b"\0" not in piece[:_BINARY_WITHIN]
    while piece:
        line = content.readline(_LONGEST_LINE)
        piece += line
        while _ends_within_a_key(piece) and len(piece) < 2 * piece_bytes and (line := content.readline(_LONGEST_LINE)):
            piece += line
        is_cut = is_text and len(line) == _LONGEST_LINE and not line.endswith(b"\n")
        end = _between_secrets(piece) if is_cut else len(piece)
        yield _masked_file(piece[:end]) if is_text else piece
        piece = piece[end:] + content.read(piece_bytes)


def _between_secrets(piece: bytes) -> int:
    """Return where to cut within a long line, so that what is hidden stands on one side."""
    begin = len(piece) - _BEFORE_CUT
    text = piece[begin:].decode("latin-1")
    cut = _BEFORE_CUT - _BEYOND_CUT
    matches = _matches(text, [match.start() for match in _START.finditer(text)])
    for start, end in reversed([(match.start(), end) for match, _, end in matches]):
        if start - _AROUND < cut < end + _AROUND:
            cut = max(0, start - _AROUND)
    return begin + cut


def _ends_within_a_key(piece: bytes) -> bool:
    return piece.rfind(b"-----BEGIN ") > piece.rfind(b"-----END ")
