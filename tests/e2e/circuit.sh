#!/bin/bash
# `cuzk circuit` prints sizes and digests as the reference has them, and a saved file is what it says.
set -u
bin=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failures=0

expect() { # what it is, wanted, found
    if [ "$2" != "$3" ]; then
        echo "$1: want $2, found $3"
        failures=$((failures + 1))
    fi
}

want='{"name":"window-2KiB","inputs":23,"aux":22128,"constraints":21866,"a_aux":16770,"b_in":1,"b_aux":16028,"nnz":[150262,22230,27456],"cs_hash":"14279e1c38053fa35eab6f56dbf1c5ef337b533f2c42fd3d7b4e7a116796b331"}'
expect "--hash" "$want" "$("$bin/cuzk" circuit window-2KiB --hash)"

stats=$("$bin/cuzk" circuit winning-2KiB --stats --save "$dir/shape")
bytes=$(sed -n 's/.*"bytes":\([0-9]*\).*/\1/p' <<<"$stats")
expect "file size" $((bytes + 32)) "$(stat -c %s "$dir/shape")"
expect "rows" 90750 "$(sed -n 's/.*"rows":\([0-9]*\).*/\1/p' <<<"$stats")"

"$bin/cuzk" circuit porep-33GiB 2>/dev/null
expect "status of an unknown circuit" 2 $?
"$bin/cuzk" circuit 2>/dev/null
expect "status without a name" 2 $?
expect "names" 1 "$("$bin/cuzk" circuit --list | grep -cx porep-64GiB)"

echo "$failures failures"
[ $failures -eq 0 ]
