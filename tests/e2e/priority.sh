#!/usr/bin/env bash
# priority BIN [SCENARIO…]: the scenarios of priority.py. BIN is the folder of the programs.
set -euo pipefail
[ -x /usr/bin/python3 ] || { echo "skipped: python3 is not here"; exit 77; }
exec /usr/bin/python3 "$(dirname "$0")/priority.py" "$@"
