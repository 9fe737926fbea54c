#!/usr/bin/env bash
# load BIN: load.py, 60 jobs of 16 connections and 60 more. BIN is the folder of the programs.
set -euo pipefail
[ -x /usr/bin/python3 ] || { echo "skipped: python3 is not here"; exit 77; }
LOAD_JOBS=60 LOAD_CONNECTIONS=16 LOAD_MORE=60 exec /usr/bin/python3 "$(dirname "$0")/load.py" "$@"
