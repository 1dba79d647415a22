from django.apps import AppConfig
from django.utils.translation import gettext, ngettext, pgettext

from results.domain.messages import use_catalogues


class ResultsConfig(AppConfig):
    name = "results"
    verbose_name = "Teiten's warehouse"

    def ready(self) -> None:
        use_catalogues(_lookup, ngettext)


def _lookup(context: str, text: str) -> str:
    return pgettext(context, text) if context else gettext(text)
