#!/usr/bin/env bash
# cuzk gen-c1, gen-post, gen-update: the files of the reference, and clear refusals.
set -uo pipefail
cuzk=$1/cuzk
here=$(cd "$(dirname "$0")" && pwd)
reference=$here/../../../shared/vectors/reference
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failures=0

complain() { printf 'gen.sh:%s: %s\n' "${BASH_LINENO[1]}" "$1"; failures=$((failures + 1)); }

digest() { # file sha256
  [ "$(sha256sum <"$1" | cut -d' ' -f1)" = "$2" ] || complain "$1 has another digest"
}

same() { # made reference
  if [ -e "$reference/$2" ]; then cmp -s "$1" "$reference/$2" || complain "$1 differs from $2"; fi
}

refused() { # status text command...
  local want=$1 text=$2 out status
  shift 2
  out=$("$@" 2>&1)
  status=$?
  [ $status = "$want" ] || complain "$*: status $status, not $want"
  [[ $out == *"$text"* ]] || complain "$*: no \"$text\" in: $out"
}

"$cuzk" gen-c1 --size 2KiB --out "$tmp/c1" || complain "gen-c1 fails"
digest "$tmp/c1" 622e0945292bb8beb19ee34eb09580c8ddf55367f65fef005def80478d41439c
"$cuzk" gen-c1 --size 8MiB --out "$tmp/c1" --threads 1 || complain "gen-c1 fails"
digest "$tmp/c1" fb16691db498a5061bf75d6940a4fd96efbd4901a30e1349e12d09bb2a5642de
"$cuzk" gen-c1 --size 2KiB --seed other --out "$tmp/c2" || complain "gen-c1 --seed fails"
cmp -s "$tmp/c1" "$tmp/c2" && complain "a seed changes nothing"
"$cuzk" gen-c1 --size 2KiB --wrapper --out "$tmp/wrapper" || complain "gen-c1 --wrapper fails"
head -c 28 "$tmp/wrapper" | grep -q '^{"SectorNum":1,"Phase1Out":"$' || complain "no wrapper"

line=$("$cuzk" gen-post --size 2KiB --sectors 2 --out "$tmp/window") || complain "gen-post fails"
[[ $line == *'"randomness":"b3929a15aefaadad1e512efabfda36bc6742d3beeeb8f8b5952440de717fe532"'* ]] ||
  complain "gen-post says $line"
same "$tmp/window/sector0.bincode" window-2KiB.sector0.bincode
same "$tmp/window/sector1.bincode" window-2KiB.sector1.bincode
"$cuzk" gen-post --size 2KiB --kind winning --out "$tmp/winning" >/dev/null || complain "winning fails"
same "$tmp/winning/sector0.bincode" winning-2KiB.sector0.bincode

line=$("$cuzk" gen-update --size 2KiB --out "$tmp/update") || complain "gen-update fails"
[[ $line == *'"comm_r_new":"2be2d53c7049fba2952b91785fbd558e9b3dcd36a78047e38a72031dd732bc4a"'* ]] ||
  complain "gen-update says $line"
same "$tmp/update/partition0.bincode" update-2KiB.partition0.bincode

refused 2 '--size is missing' "$cuzk" gen-c1 --out "$tmp/x"
refused 2 '--out is missing' "$cuzk" gen-update --size 2KiB
refused 2 '--size 3KiB' "$cuzk" gen-c1 --size 3KiB --out "$tmp/x"
refused 2 'sectors of 8KiB have no PoRep' "$cuzk" gen-c1 --size 8KiB --out "$tmp/x"
refused 2 '--sectors 0' "$cuzk" gen-post --size 2KiB --sectors 0 --out "$tmp/x"
refused 2 '--kind wind' "$cuzk" gen-post --size 2KiB --kind wind --out "$tmp/x"
refused 4 'no/folder' "$cuzk" gen-c1 --size 2KiB --out "$tmp/no/folder/x"

[ $failures = 0 ] || { echo "$failures failures"; exit 1; }
