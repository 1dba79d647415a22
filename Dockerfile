# One image for web, workers and beat. Agents are other machines: they need sshd, PostgreSQL and sysstat, not this.
FROM python:3.11-slim-bookworm

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 TEITEN_STATE=/app/state TEITEN_BUNDLE_DIR=/var/lib/teiten/bundles \
    MPLCONFIGDIR=/tmp/matplotlib XDG_CACHE_HOME=/tmp/cache
WORKDIR /app

RUN groupadd --gid 10001 teiten && useradd --uid 10001 --gid 10001 --create-home --home-dir /var/lib/teiten teiten
# Pango sets the text of PDF files.
RUN apt-get update && apt-get install -y --no-install-recommends libpangoft2-1.0-0 && rm -rf /var/lib/apt/lists/*
# Backups need pg_dump of the warehouse's version or later; Debian's is older than that of docker-compose.yml.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates postgresql-common \
    && /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y \
    && apt-get install -y --no-install-recommends postgresql-client-18 && rm -rf /var/lib/apt/lists/*
COPY requirements.lock .
RUN pip install --no-cache-dir --require-hashes --no-deps -r requirements.lock

COPY manage.py gunicorn.conf.py pyproject.toml ./
COPY results results
COPY workers workers
COPY webapp webapp
COPY templates templates
COPY static static
COPY plans plans
COPY docs docs
COPY locale locale

RUN export TEITEN_SECRET_KEY=only-to-collect-the-static-files-of-the-image-0000000000 \
    && python manage.py collectstatic --noinput -v 0 && python manage.py compilemessages -v 0 \
    && mkdir -p /var/lib/teiten/bundles && chown -R teiten /var/lib/teiten
USER 10001:10001
EXPOSE 8000
CMD ["gunicorn", "webapp.wsgi:application", "--bind", "0.0.0.0:8000", "--workers", "2", "--threads", "8", "--forwarded-allow-ips", "*", "--no-control-socket"]
