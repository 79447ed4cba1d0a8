# Genie as an image: compose.yaml runs it, docs/install.md says how.

FROM python:3.13-slim AS build
COPY . /source
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /source

FROM python:3.13-slim
# METEOR looks up synonyms in WordNet; `genie backup` asks pg_dump for the database.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends wordnet-base postgresql-client \
    && rm -rf /var/lib/apt/lists/*
COPY requirements/base.txt /requirements.txt
COPY requirements/servers.txt /servers.txt
RUN pip install --no-cache-dir --require-hashes --requirement /requirements.txt --requirement /servers.txt
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-deps --no-index /wheels/*.whl
# A user of its own, who owns the data and nothing else.
RUN useradd --system --uid 10001 --no-create-home genie \
    && install --directory --owner genie --group genie /var/lib/genie

USER genie
WORKDIR /var/lib/genie
ENV GENIE_VAR=/var/lib/genie PYTHONUNBUFFERED=1
VOLUME /var/lib/genie
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=6s --start-period=60s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/healthz', timeout=5)"]
# One container for everything, on SQLite; compose.yaml has one for each part.
CMD ["genie", "up", "--host", "0.0.0.0"]
