"""The WSGI application, which gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application

from webapp import garbage

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
application = get_wsgi_application()
garbage.settle()
