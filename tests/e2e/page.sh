#!/usr/bin/env bash
# The live page in headless Chromium against a daemon that was made up: it shows what it is told, as text,
# and says when the connection is lost. With PAGE_SHOTS=folder it leaves screenshots there to look at.
set -uo pipefail
here=$(realpath "$(dirname "$0")")
page=$here/../../src/service/page/index.html
chromium=$(command -v chromium || command -v chromium-browser) || { echo "skipped: chromium is not here"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: python3 is not here"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work
failures=0
fail() {
    echo "page.sh:${BASH_LINENO[0]}: $*" >&2
    failures=$((failures + 1))
}

# start [ANSWERS]: the mock, which ends when its input is closed; sets `url`.
start() {
    coproc MOCK { exec python3 "$here/page_mock.py" "$page" "$@"; }
    read -r -t 20 port <&"${MOCK[0]}" || { fail "the mock does not start"; exit 1; }
    url=http://127.0.0.1:$port/
}
stop() {
    local pid=$MOCK_PID
    eval "exec ${MOCK[1]}>&-"
    wait "$pid" 2>/dev/null
}
browse() {
    timeout 100 "$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
        --virtual-time-budget=4000 "$@" 2>"$work/errors"
}
has() { grep -qF -- "$1" "$work/dom" || fail "the page does not show: $1"; }
hasnot() { ! grep -qF -- "$1" "$work/dom" || fail "the page shows: $1"; }

start
browse --dump-dom "$url" >"$work/dom" || fail "chromium: $(tail -3 "$work/errors")"
has '<span id="link" class="up dim">live</span>'
has 'up 3 d 0 h, 0.1.0'
has '<div class="n">1042</div>'
has '81.2 %'
has 'winpost-1000-0a1b2c3d'
has '73.5 s'
has 'synthesis-bound: with work at hand'
has '<td class="id">the proof is wrong</td>'
has 'porep-1000-120 / 3 for 1.2 s'
has '51.0 GiB'
has 'title="2: finishing, synthesis 3.4 s"'
# The id that is HTML stands as text, and did nothing.
has 'wdpost-1000-&lt;img src=x onerror='
has '<title>cuzk</title>'
hasnot '<img'
if [ -n "${PAGE_SHOTS:-}" ]; then
    browse --window-size=1280,1500 --screenshot="$PAGE_SHOTS/light.png" "$url"
    browse --window-size=1280,1500 --blink-settings=preferredColorScheme=0 --screenshot="$PAGE_SHOTS/dark.png" "$url"
    browse --window-size=500,1700 --blink-settings=preferredColorScheme=0 --screenshot="$PAGE_SHOTS/phone.png" "$url"
fi
stop

start 1
browse --dump-dom "$url" >"$work/dom" || fail "chromium: $(tail -3 "$work/errors")"
has '<span id="link" class="down dim">not connected</span>'
has 'what is shown is old.'
has '<body class="stale">'
has 'winpost-1000-0a1b2c3d' # what it had stays
[ -n "${PAGE_SHOTS:-}" ] && browse --window-size=1000,600 --screenshot="$PAGE_SHOTS/lost.png" "$url"
stop

# Nothing from outside: no address but the mock's own.
grep -qE 'https?://' "$page" && fail "the page names an address"
[ "$failures" -eq 0 ]
