#!/usr/bin/env bash
# daemon_cuda BIN [SCENARIO…]: the scenarios of daemon_cuda.py. BIN is the folder of the programs.
set -euo pipefail
[ -x /usr/bin/python3 ] || { echo "skipped: python3 is not here"; exit 77; }
exec /usr/bin/python3 "$(dirname "$0")/daemon_cuda.py" "$@"
