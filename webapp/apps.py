from django.apps import AppConfig


class WebappConfig(AppConfig):
    name = "webapp"
    verbose_name = "Teiten's pages"

    def ready(self) -> None:
        from webapp import checks  # noqa: F401  (registers the system checks)
