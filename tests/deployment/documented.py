"""The commands of docs/operations.md, as they are carried out here."""

from __future__ import annotations

import re

from bootstrap.places import CHECKOUT


def blocks(section: str) -> list[list[str]]:
    """Return the commands of each block of sh in a section, without comments, continued lines joined."""
    text = (CHECKOUT / "docs" / "operations.md").read_text(encoding="utf-8")
    words = text.partition(f"### {section}\n")[2].partition("\n### ")[0]
    found = re.findall(r"^```sh\n(.*?)^```$", words, re.M | re.S)
    cleaned = [re.sub(r" +# .*|^# .*", "", block.replace("\\\n", " "), flags=re.M) for block in found]
    return [[line for line in block.splitlines() if line.strip()] for block in cleaned]
