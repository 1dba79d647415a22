from functools import lru_cache

from django.apps import AppConfig
from django.db.backends.signals import connection_created
from django.utils.translation import get_language, gettext, ngettext, pgettext

from results.domain.messages import use_catalogues
from results.timestamps import read_timestamps

_LONGEST_KEPT = 1_000  # characters


class ResultsConfig(AppConfig):
    name = "results"
    verbose_name = "Teiten's warehouse"

    def ready(self) -> None:
        use_catalogues(_lookup, ngettext)
        connection_created.connect(read_timestamps)


def _lookup(context: str, text: str) -> str:
    """Return a text in the active language. What is too long for one of Teiten's own, as what programs printed, is not
    kept."""
    if len(text) > _LONGEST_KEPT:
        return pgettext(context, text) if context else gettext(text)
    return _translated(context, str.__str__(text), get_language())


@lru_cache(10_000)
def _translated(context: str, text: str, _language: str | None) -> str:
    """Return a text in the language, which is the active one: pages ask for hundreds, most of them again and again."""
    return pgettext(context, text) if context else gettext(text)
