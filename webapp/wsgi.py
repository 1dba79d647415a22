"""What gunicorn serves."""

import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
application = get_wsgi_application()
# What is loaded now stays. A comparison makes some 60,000 objects, none of them in a cycle: by Python's own threshold
# the collector would look through them dozens of times (docs/measured.md).
gc.freeze()
gc.set_threshold(100_000)
