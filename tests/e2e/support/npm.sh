# Sourced by tests that need packages of npm: what is not there skips the test, with the reason.

skip() {
    echo "skipped: $*" >&2
    exit 77
}

# npm_packages FOLDER FILE PACKAGE…: the packages at FOLDER, where FILE is one of theirs; installed once
# for all runs, and as a whole or not at all.
npm_packages() {
    local folder=$1 file=$2 program fresh
    shift 2
    for program in node npm; do
        command -v $program >/dev/null || skip "$program is not installed"
    done
    [ -f "$folder/$file" ] && return
    fresh=$(mktemp -d "$folder.XXXXXX")
    if ! timeout 300 npm install --prefix "$fresh" --no-audit --no-fund --ignore-scripts "$@" >"$fresh/log" 2>&1; then
        local why
        why=$(tail -1 "$fresh/log")
        rm -rf "$fresh"
        skip "npm cannot install $*: $why"
    fi
    rm -rf "$folder"
    mv "$fresh" "$folder"
}
