"""The form of sign-in: Django's, with its words in Teiten's catalogue."""

from __future__ import annotations

from django.contrib.auth.forms import AuthenticationForm, UsernameField
from django.forms import TextInput
from django.utils.translation import gettext_lazy


class SignInForm(AuthenticationForm):
    username = UsernameField(label=gettext_lazy("Username"), widget=TextInput(attrs={"autofocus": True}))
    error_messages = {
        **AuthenticationForm.error_messages,
        "invalid_login": gettext_lazy(
            "Please enter a correct username and password. Note that both fields may be case-sensitive."
        ),
    }
