"""Read by gunicorn in the folder where it is started: its own lines, and warnings, are written as all of Teiten's."""

import ctypes
import logging

from webapp.settings import LOGGING

ctypes.CDLL(None).mallopt(-8, 1)  # M_ARENA_MAX: each thread would keep the memory of its largest answer to itself
ctypes.CDLL(None).mallopt(-3, 128 * 1024)  # M_MMAP_THRESHOLD, else it rises: large blocks go back when they are freed
logging.captureWarnings(True)
logconfig_dict = LOGGING
# Loaded once, before the address is open: all workers share that memory, and the first answer waits for no module.
preload_app = True
