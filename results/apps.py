from django.apps import AppConfig
from django.db.backends.signals import connection_created
from django.utils.translation import gettext, ngettext, pgettext

from results.domain.messages import use_catalogues
from results.timestamps import read_timestamps


class ResultsConfig(AppConfig):
    name = "results"
    verbose_name = "Teiten's warehouse"

    def ready(self) -> None:
        use_catalogues(_lookup, ngettext)
        connection_created.connect(read_timestamps)


def _lookup(context: str, text: str) -> str:
    return pgettext(context, text) if context else gettext(text)
