"""manage.py makemessages: brings the files of translations up to date with the texts of code and templates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.commands import makemessages

from webapp import catalogues
from webapp.api.schema_language import CONTEXT, english_texts


class Command(makemessages.Command):
    """Django's, with the name that `ngettext_lazy` of results.domain.messages has where it is imported, and with the
    texts of the API's reference. In the folder of a kind it brings the kind's own files up to date alone."""

    xgettext_options = [*makemessages.Command.xgettext_options, "--keyword=n_:1,2"]

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        if Path.cwd() != settings.BASE_DIR:
            return
        texts = english_texts()
        for language in options["locale"] or ():
            catalogues.update(catalogues.of_api(language, settings.BASE_DIR), language, CONTEXT, texts)
