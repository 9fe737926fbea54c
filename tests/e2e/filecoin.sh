#!/bin/bash
# Filecoin's circuits on the command line: a key under its published name, proofs from vanilla proofs,
# refusals with their status and reason, the kept circuits.
set -u
bin=$1
vectors=$(realpath "$(dirname "$0")/../vectors/reference")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export CUZK_CACHE=$dir/cache/circuits
failures=0

expect() { # what it is, wanted, found
    if [ "$2" != "$3" ]; then
        echo "$1: want $2, found $3"
        failures=$((failures + 1))
    fi
}

refused() { # what it is, status, words of the message, command
    local what=$1 status=$2 words=$3 found
    shift 3
    "$bin/cuzk" "$@" >/dev/null 2>"$dir/message"
    found=$?
    expect "status: $what" "$status" "$found"
    if ! grep -q -- "$words" "$dir/message"; then
        echo "$what: no \"$words\" in: $(cat "$dir/message")"
        failures=$((failures + 1))
    fi
}

scalar() { # the scalar of a name, as hexadecimal digits
    local hex
    hex=$(printf %s "$1" | sha256sum | cut -c 1-64)
    printf '%s%02x' "${hex:0:62}" $((0x${hex:62:2} & 0x3f))
}

window=(--circuit window-2KiB --randomness "$(scalar "post randomness")")
mkdir "$dir/sectors"
cp "$vectors/window-2KiB.sector0.bincode" "$dir/sectors/sector2"
cp "$vectors/window-2KiB.sector1.bincode" "$dir/sectors/sector10"

# the key, in a folder that is made, under the names that the reference looks for
stem=v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0
"$bin/cuzk" setup --circuit window-2KiB --out "$dir/new/keys" --seed-name ref --insecure >/dev/null
expect "status of setup" 0 $?
expect "key" c5a3ba9fee9d89eceb851ecf30ff13d9fda2018ede2ad0719b8f71f371e6a146 \
    "$(sha256sum "$dir/new/keys/$stem.params" | cut -c 1-64)"
cmp "$dir/new/keys/$stem.vk" "$vectors/window-2KiB.vk" || failures=$((failures + 1))
expect "kept circuits" window-2KiB.circuit "$(ls "$CUZK_CACHE")"

# a proof from a folder, its files in the order of their numbers
"$bin/cuzk" prove "${window[@]}" --params "$dir/new/keys" --input "$dir/sectors" --proof "$dir/proof" \
    --public "$dir/public" --r "$(scalar ref-r-0)" --s "$(scalar ref-s-0)" >/dev/null
expect "status of prove" 0 $?
cmp "$dir/proof" "$vectors/window-2KiB.0.proof" || failures=$((failures + 1))
cmp "$dir/public" "$vectors/window-2KiB.0.inputs" || failures=$((failures + 1))

# the same with a cache that cannot be made, and damaged in the one that is there
touch "$dir/file"
CUZK_CACHE=$dir/file/cache "$bin/cuzk" witness "${window[@]}" --input "$dir/sectors" --check >/dev/null
expect "status without a cache" 0 $?
printf spoiled | dd of="$CUZK_CACHE/window-2KiB.circuit" bs=1 seek=5000 conv=notrunc 2>/dev/null
digests=$("$bin/cuzk" witness "${window[@]}" --input "$dir/sectors" --digest --check)
expect "digest of aux" ed78c52f190a3996a6e0debf936e3c2843f7c9cbc164eb880db971878d825603 \
    "$(sed -n 's/^aux //p' <<<"$digests")"
expect "digest of c" eadb839238c632b5dcaf27780a99be5e9484df457f4425013cdc657e2d2110fd \
    "$(sed -n 's/^c //p' <<<"$digests")"
expect "rows" 1 "$(grep -c '^all 21866 constraints hold' <<<"$digests")"

# three sectors make two partitions; the last sector is repeated
third=("${window[@]}" --input "$dir/sectors" --input "$vectors/window-2KiB.sector0.bincode")
"$bin/cuzk" prove "${third[@]}" --params "$dir/new/keys/$stem.params" --proof "$dir/two" >/dev/null
expect "bytes of two proofs" 384 "$(stat -c %s "$dir/two")"
expect "verified" "2 of 2 proofs valid" \
    "$("$bin/cuzk" verify "${third[@]}" --vk "$dir/new/keys" --proof "$dir/two" | tail -1)"
"$bin/cuzk" prove "${third[@]}" --params "$dir/new/keys" --partition 1 --proof "$dir/one" >/dev/null
expect "verified alone" "1 of 1 proof valid" \
    "$("$bin/cuzk" verify "${third[@]}" --partition 1 --vk "$dir/new/keys" --proof "$dir/one" | tail -1)"
refused "a proof of another partition" 1 "not valid" \
    verify "${third[@]}" --partition 0 --vk "$dir/new/keys" --proof "$dir/one"
refused "a partition past the end" 2 "the proof has 2 partitions" \
    verify "${third[@]}" --partition 2 --vk "$dir/new/keys" --proof "$dir/one"

# one partition of an update that has two
"$bin/cuzk" gen-update --size 16KiB --out "$dir/update" >/dev/null
half=(witness --circuit update-16KiB --input "$dir/update/partition1.bincode")
expect "a partition alone" 1 "$("$bin/cuzk" "${half[@]}" --partition 1 --check | grep -c 'constraints hold$')"
refused "a partition in place of all" 2 "give all, or --partition" "${half[@]}"
refused "a partition in place of another" 3 "expected partition 0, found 1" "${half[@]}" --partition 0
refused "partitions out of order" 3 "expected partition 0, found 1" \
    "${half[@]}" --input "$dir/update/partition0.bincode"

# refusals
bad=("${window[@]}" --params "$dir/new/keys" --proof "$dir/none")
cp "$dir/sectors/sector2" "$dir/spoiled"
refused "the wrong randomness" 3 "challenge 0: the opened leaf is not the challenged one" \
    prove --circuit window-2KiB --randomness "$(scalar other)" --input "$dir/sectors" \
    --params "$dir/new/keys" --proof "$dir/none"
refused "no randomness" 2 "needs the randomness" \
    prove --circuit window-2KiB --input "$dir/sectors" --params "$dir/new/keys" --proof "$dir/none"
refused "no input" 2 "--input is missing" prove "${bad[@]}"
refused "a folder without files" 2 "no input file" prove "${bad[@]}" --input "$dir/new"
refused "a number that is none" 2 "expected a number" \
    prove "${bad[@]}" --input "$dir/sectors" --partition 1x
refused "another kind of registered proof" 2 "not of this circuit" \
    prove "${bad[@]}" --input "$dir/sectors" --registered-proof 0
refused "a file of another kind" 3 "c1-2KiB.bincode" prove "${bad[@]}" --input "$vectors/c1-2KiB.bincode"
refused "a key of another circuit" 3 "expected a key of 132 inputs, found one of 22" \
    verify --circuit winning-2KiB --vk "$vectors/window-2KiB.vk" --proof "$dir/proof" --inputs "$dir/public"
refused "two sources of inputs" 2 "not both" verify "${window[@]}" --vk "$dir/new/keys" \
    --input "$dir/sectors" --inputs "$dir/public" --proof "$dir/proof"
refused "two systems" 2 "not both" setup --circuit window-2KiB --r1cs x --out "$dir/new"
refused "a claim that is false" 3 "comm_r_old: expected" witness --circuit update-2KiB --check \
    --input "$vectors/update-2KiB.partition0.bincode" --comm-r-old "$(scalar other)"
expect "no proof was written" 0 "$([ -e "$dir/none" ] && echo 1 || echo 0)"

echo "$failures failures"
[ "$failures" -eq 0 ]
