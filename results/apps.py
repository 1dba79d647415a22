from django.apps import AppConfig
from django.utils.translation import gettext, ngettext

from results.domain.messages import use_catalogues


class ResultsConfig(AppConfig):
    name = "results"
    verbose_name = "Teiten's warehouse"

    def ready(self) -> None:
        use_catalogues(gettext, ngettext)
