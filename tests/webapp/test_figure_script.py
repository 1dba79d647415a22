"""Figures in pages: the JSON that json_script of Django writes."""

from __future__ import annotations

import json
import re

from django.utils.html import json_script

from results.domain.messages import gettext_lazy as _
from webapp.templatetags.teiten import figure_script


def read(script: str) -> object:
    match = re.fullmatch(r'<script id="(.*?)" type="application/json">([^<>&]*)</script>', script)
    assert match, script
    return match[1], json.loads(match[2])


def test_a_figure_is_read_as_that_of_json_script_and_ends_no_script() -> None:
    figure = {
        "data": [{"text": ["</script><b>3 µs & more · \u2028"], "y": [1.5, None, 3], "on": True, "name": _("date")}]
    }
    assert read(figure_script(figure, "a'b")) == read(json_script(figure, "a'b"))
