"""The Celery app: queues and schedule. It names tasks by string, since tasks import it.

CONTROL: what must never wait: it starts, watches and ends trials and runs. Each task takes a moment
AGENTS: what may take minutes: tasks that speak with one agent, or make the rest of a large run
TRIALS: whoever takes a message of it runs trials one after the other, while there are any

A worker without `-Q` serves all three.
"""

from __future__ import annotations

import logging.config
import os

from celery import Celery
from celery.signals import celeryd_init, setup_logging
from django.conf import settings
from kombu import Exchange, Queue

CONTROL, AGENTS, TRIALS = "control", "agents", "trials"
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

app = Celery("teiten")


@celeryd_init.connect
def _log_warnings(**_: object) -> None:
    logging.captureWarnings(True)  # Celery does so too, after it has warned of a worker that runs as root


@setup_logging.connect
def _log_as_all_of_teiten(**_: object) -> None:
    """Write the lines of workers and beat as the settings say; with a receiver, Celery leaves logging alone."""
    logging.config.dictConfig(settings.LOGGING)


app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.update(
    imports=("workers.tasks",),
    # Each with an exchange of its own: with the default one each would get the messages of all.
    task_queues=[Queue(name, Exchange(name), routing_key=name) for name in (CONTROL, AGENTS, TRIALS)],
    task_default_queue=CONTROL,
    task_routes={f"workers.tasks.{name}": {"queue": AGENTS} for name in ("contact", "settle", "prune", "make_trials")}
    | {"workers.tasks.work": {"queue": TRIALS}},
    task_acks_late=False,
    task_ignore_result=True,
    worker_prefetch_multiplier=1,
    broker_connection_retry_on_startup=True,
    # A page that wakes the dispatcher must not wait long for a Redis that is down or hangs: beat wakes it again.
    broker_transport_options={
        "socket_connect_timeout": 3,
        "socket_timeout": 10,
        "max_retries": 1,
        "interval_start": 0,
        "interval_step": 0.1,
        **settings.TEITEN_BROKER_OPTIONS,
    },
    timezone="UTC",
    beat_schedule={
        "dispatch": {"task": "workers.tasks.dispatch", "schedule": 2.0, "options": {"expires": 2.0}},
        "reap": {"task": "workers.tasks.reap", "schedule": 2.0, "options": {"expires": 2.0}},
        "alert": {"task": "workers.tasks.alert", "schedule": 20.0, "options": {"expires": 20.0}},
        "contact agents": {
            "task": "workers.tasks.contact_all",
            "schedule": 30.0,
            "options": {"expires": 60.0},
        },
        "check schedules": {"task": "workers.tasks.check_schedules", "schedule": 60.0, "options": {"expires": 60.0}},
        "make ranges": {"task": "workers.tasks.make_ranges", "schedule": 300.0, "options": {"expires": 300.0}},
        "prune agents": {"task": "workers.tasks.prune_all", "schedule": 60.0, "options": {"expires": 60.0}},
    },
)
