#!/usr/bin/env bash
# load_long BIN [JOBS [MORE]]: load.py, 2 000 jobs of 64 connections and 2 000 more. BIN is the folder of the
# programs.
set -euo pipefail
[ -x /usr/bin/python3 ] || { echo "skipped: python3 is not here"; exit 77; }
LOAD_JOBS=${2:-2000} LOAD_CONNECTIONS=64 LOAD_MORE=${3:-2000} exec /usr/bin/python3 \
    "$(dirname "$0")/load.py" "$1"
