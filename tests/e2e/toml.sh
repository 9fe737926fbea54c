#!/usr/bin/env bash
# The TOML reader against CPython's tomllib: the same documents are accepted, with the same values.
# The documents are CPython's own test corpus, the TOML files of this repository, some written here,
# and small random changes of all of them. Skipped where no Python has tomllib and its tests
# (Debian: libpython3.11-testsuite).
set -uo pipefail
bin=$(realpath "$1")
here=$(realpath "$(dirname "$0")")

for python in python3 /usr/bin/python3 ""; do
    [ -n "$python" ] || { echo "skipped: no Python with tomllib and test.test_tomllib"; exit 77; }
    corpus=$("$python" - <<'PY' 2>/dev/null
import importlib.util, os, tomllib
data = os.path.join(os.path.dirname(importlib.util.find_spec("test.test_tomllib").origin), "data")
assert os.path.isdir(data)
print(data)
PY
    ) && break
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CUZK_BIN=$bin CUZK_WORK=$work CUZK_CORPUS=$corpus CUZK_TREE=$here/../.. "$python" "$here/toml.py"
