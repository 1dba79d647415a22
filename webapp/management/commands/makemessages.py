"""manage.py makemessages: brings the files of translations up to date with the texts of code and templates."""

from __future__ import annotations

from django.core.management.commands import makemessages


class Command(makemessages.Command):
    """Django's, with the name that `ngettext_lazy` of results.domain.messages has where it is imported."""

    xgettext_options = [*makemessages.Command.xgettext_options, "--keyword=n_:1,2"]
