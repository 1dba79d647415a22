import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
application = get_wsgi_application()
# A comparison makes some ten thousand small objects, none of them in a circle: looking for circles among them and all
# of Django would take a quarter of the answer's time.
gc.freeze()
gc.set_threshold(100_000, 20, 20)
