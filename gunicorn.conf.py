"""Read by gunicorn in the folder where it is started: its own lines, and warnings, are written as all of Teiten's."""

import logging

from webapp.settings import LOGGING

logging.captureWarnings(True)
logconfig_dict = LOGGING
