#!/usr/bin/env bash
# Run the tests that use a database on PostgreSQL: a throw-away server on a Unix socket,
# gone with everything in it when the tests are over. What is given goes to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}

initdb=$(command -v initdb || true)
for found in /usr/pgsql-*/bin/initdb /opt/homebrew/opt/postgresql*/bin/initdb /usr/lib/postgresql/*/bin/initdb; do
  if [ -z "$initdb" ] && [ -x "$found" ]; then initdb=$found; fi
done
bin=$(dirname "${initdb:-/}")
if [ ! -x "$bin/initdb" ] || [ ! -x "$bin/pg_ctl" ]; then
  echo "There is no PostgreSQL server here (looked for initdb on the PATH and in /usr/lib/postgresql)." >&2
  echo "Debian and Ubuntu: apt-get install postgresql. Or run the tests on SQLite: make test." >&2
  exit 1
fi

# PostgreSQL refuses to run as root.
as_owner=()
if [ "$(id -u)" = 0 ]; then
  if ! id postgres >/dev/null 2>&1; then
    echo "PostgreSQL does not run as root, and there is no user postgres to run it as." >&2
    exit 1
  fi
  as_owner=(runuser -u postgres --)
fi

# Short on purpose: a socket's path has at most 107 characters.
folder=$(mktemp -d /tmp/genie-postgres-XXXXXX)
stop() {
  (cd / && "${as_owner[@]}" "$bin/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1) || true
  rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT TERM
[ "$(id -u)" = 0 ] && chown postgres "$folder"

# Words in the order of a dictionary, which is what most servers have and SQLite has not.
locale=(--locale=C)
if "$bin/initdb" --help | grep -q icu-locale; then
  locale+=(--locale-provider=icu --icu-locale=en-US)
fi
(
  cd /
  "${as_owner[@]}" "$bin/initdb" -D "$folder/data" -A trust -U genie -E UTF8 "${locale[@]}" --no-sync >/dev/null
  # Nothing here must survive a power cut.
  "${as_owner[@]}" "$bin/pg_ctl" -D "$folder/data" -w -l "$folder/log" -o "-c listen_addresses='' \
    -c unix_socket_directories='$folder' -c fsync=off -c full_page_writes=off \
    -c synchronous_commit=off -c jit=off -c deadlock_timeout=200ms" start >/dev/null
) || { cat "$folder/log" >&2 2>/dev/null; exit 1; }

server="postgres://genie@${folder//\//%2F}"
export DATABASE_URL="$server/postgres"
# The migrations run once, here; the tests' databases are copies of what they make.
export GENIE_TEST_TEMPLATE=genie_migrated
"$python" -c 'import sys, psycopg
with psycopg.connect(sys.argv[1], autocommit=True) as server:
    server.execute(f"create database {sys.argv[2]}")' "$DATABASE_URL" "$GENIE_TEST_TEMPLATE"
DATABASE_URL="$server/$GENIE_TEST_TEMPLATE" DJANGO_SETTINGS_MODULE=tests.settings \
  "$python" manage.py migrate --verbosity 0

paths=(tests)
for argument in "$@"; do
  if [ -e "${argument%%::*}" ]; then paths=(); fi
done
# tests/conftest.py leaves out what asks no database at all, and what asks it only what
# other tests ask as well: tests/engine_blind.py. A marker that is given replaces the one here.
"$python" -m pytest -q --no-migrations -m "not browser" "${paths[@]}" "$@"
