"""English that is left on a page that should be Japanese."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from playwright.sync_api import Page

from webapp import catalogues

ROOT = Path(__file__).parents[2]

# What is English in any language: raw output, code, what people typed, and what is marked as of another language; so
# are the examples in fields for code, which nobody spells.
_UNTRANSLATED = "pre, code, textarea, script, style, template, [translate=no], [lang]:not(:lang(ja))"
_TEXTS = """(untranslated) => {
  const texts = [];
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!element.closest(untranslated)) texts.push(walker.currentNode.textContent);
  }
  for (const element of document.querySelectorAll("[title], [aria-label], [placeholder], [alt]")) {
    if (element.closest(untranslated)) continue;
    const names = ["title", "aria-label", "alt", ...(element.spellcheck ? ["placeholder"] : [])];
    for (const name of names) texts.push(element.getAttribute(name) ?? "");
  }
  return texts.map((text) => text.replace(/\\s+/g, " ").trim()).filter(Boolean);
}"""
# Words that no name, setting or unit is made of.
_ENGLISH = re.compile(
    r"(?<![\w-])(?:the|of|is|are|was|were|to|and|or|with|for|not|that|this|which|by|from|each|at|on|in|no|all|be|has|"
    r"have|an|as|it|its|than|more|never|every|only|between|without|after|before|when|where|who|what|why)(?![\w-])",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[A-Za-z][A-Za-z'’-]+")


def english_texts(page: Page, names: frozenset[str] = frozenset(), values: frozenset[str] = frozenset()) -> list[str]:
    """Return the texts of a page that read as English, in its order, each once.

    names: of plans, runs, agents and the like, as people gave them
    values: of plans, and names of nodes: whole texts that are the same in all languages
    """
    texts = dict.fromkeys(page.evaluate(_TEXTS, _UNTRANSLATED))
    return [text for text in texts if text not in values and is_english(text, names)]


def is_english(text: str, names: frozenset[str] = frozenset()) -> bool:
    """Return whether a text has an English clause, names aside, or is one that the catalogues have in Japanese."""
    if text in _translated() - names:
        return True
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, "")
    clauses = re.split(r"[ぁ-ヿ一-鿿、。「」（）：]+", text)
    return any(len(_WORDS.findall(clause)) > 1 and _ENGLISH.search(clause) for clause in clauses)


@cache
def _translated() -> frozenset[str]:
    """Return the English of every text without values that is another in Japanese."""
    files = catalogues.sources("ja", ROOT, [ROOT / "workers"])
    messages = (message for path in files for message in catalogues.read(path))
    return frozenset(
        message.id for message in messages if isinstance(message.id, str) and message.string not in ("", message.id)
    )
