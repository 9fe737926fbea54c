#!/usr/bin/env bash
# many_jobs BIN [SCENARIO…]: the scenarios of many_jobs.py. BIN is the folder of the programs.
set -euo pipefail
[ -x /usr/bin/python3 ] || { echo "skipped: python3 is not here"; exit 77; }
exec /usr/bin/python3 "$(dirname "$0")/many_jobs.py" "$@"
