import subprocess

import pytest

from workers.remote.command import quote

AWKWARD = ["", " ", "a b", "it's", '"', "$(touch x)", "`id`", "a\nb", "\\", "*", "~", "-n", "é", ";", "!", "#", "&&"]


def test_every_word_survives_a_shell():
    shown = subprocess.run(["sh", "-c", quote(["printf", "%s\\0", *AWKWARD])], capture_output=True, check=True)
    assert shown.stdout.decode().split("\0")[:-1] == AWKWARD


def test_plain_words_stay_readable():
    assert quote(["pgbench", "-c", "4", "--log-prefix=/tmp/x"]) == "pgbench -c 4 --log-prefix=/tmp/x"


def test_a_nul_byte_is_refused():
    with pytest.raises(ValueError, match="NUL"):
        quote(["a\0b"])
