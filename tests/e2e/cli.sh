#!/usr/bin/env bash
# The command line: status and message of every sub-command on good and on bad input.
set -uo pipefail
bin=$(realpath "$1")
vectors=$(realpath "$(dirname "$0")/../vectors")
chain=$vectors/snarkjs/chain1k
seal=$vectors/verify/filecoin-v27-32GiB
unset CUZK_THREADS

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

fail() {
    echo "cli.sh:${BASH_LINENO[1]}: $*" >&2
    failures=$((failures + 1))
}

# expect STATUS WORDS ARGUMENTS...: `cuzk ARGUMENTS` ends with STATUS and says WORDS (a fixed string)
# on stdout or stderr; a failure is one line that begins with "cuzk: " after what it could still do.
expect() {
    local want=$1 words=$2 status=0
    shift 2
    "$bin/cuzk" "$@" >out 2>errors || status=$?
    [ "$status" -eq "$want" ] || fail "cuzk $*: status $status, not $want: $(cat errors)"
    grep -qF -- "$words" out errors || fail "cuzk $*: \"$words\" is not in: $(cat out errors)"
    if [ "$want" -ne 0 ] && [ "$(head -c 4 errors)" != cuzk ]; then
        fail "cuzk $*: the message does not begin with cuzk: $(cat errors)"
    fi
    if [ "$want" -eq 0 ] && [ -s errors ]; then
        fail "cuzk $*: says on stderr: $(cat errors)"
    fi
}

# flip FILE OFFSET [BIT]: FILE with one bit changed, as the file `flipped`.
flip() {
    cp "$1" flipped
    chmod u+w flipped
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 flipped)
    printf "\\x$(printf %x $((byte ^ (1 << ${3:-0}))))" |
        dd of=flipped bs=1 seek="$2" conv=notrunc status=none
}

same() { cmp -s "$1" "$2" || fail "$1 and $2 differ"; }

## The command itself

expect 0 "cuzk 0." --version
expect 0 "Usage: cuzk [OPTION...] COMMAND" --help
for c in verify setup prove inspect; do
    expect 0 "Usage: cuzk $c" $c --help
    expect 0 "--threads=N" $c --help
    expect 2 "unrecognized option '--nonsense'" $c --nonsense
done
expect 0 "For tests only" prove --help
expect 2 "a command is missing"
expect 2 "\"shove\" is not a command" shove
expect 2 "unrecognized option '--nonsense'" --nonsense

## setup

expect 0 "1000 constraints, 2 public inputs and 1000 other variables, domain 2^10" \
    setup --r1cs $chain/mulchain.r1cs --out a.params --vk a.vk --seed-name ref --insecure
expect 0 "wrote b.params" --threads 1 \
    setup --r1cs $chain/mulchain.r1cs --out b.params --vk b.vk --seed-name ref --insecure
same a.params b.params
same a.vk b.vk
head -c "$(stat -c %s a.vk)" a.params | cmp -s - a.vk || fail "the params do not begin with the vk"
expect 0 "wrote a.zkey" \
    setup --r1cs $chain/mulchain.r1cs --out a.zkey --vk a.json --seed-name ref --insecure
expect 0 "wrote b.zkey" \
    setup --r1cs $chain/mulchain.r1cs --out b.zkey --vk b.json --seed-name ref --insecure --threads 3
same a.zkey b.zkey
same a.json b.json
expect 0 "wrote c.params" setup --r1cs $chain/mulchain.r1cs --out c.params --vk c.vk
expect 0 "wrote d.params" setup --r1cs $chain/mulchain.r1cs --out d.params
cmp -s c.params d.params && fail "two keys with secrets of the system are the same"

expect 2 "give --insecure" setup --r1cs $chain/mulchain.r1cs --out x.params --seed-name ref
expect 2 "--r1cs is missing" setup --out x.params
expect 2 "--out is missing" setup --r1cs $chain/mulchain.r1cs
expect 2 "must end in .params or .zkey" setup --r1cs $chain/mulchain.r1cs --out x.key
expect 4 "no-such.r1cs" setup --r1cs no-such.r1cs --out x.params
expect 3 "$chain/mul.wtns" setup --r1cs $chain/mul.wtns --out x.params
expect 4 "no-folder/x.params" setup --r1cs $chain/mulchain.r1cs --out no-folder/x.params
head -c 1000 $chain/mulchain.r1cs >short.r1cs
expect 3 "short.r1cs" setup --r1cs short.r1cs --out x.params
[ -e x.params ] && fail "a failed setup leaves a file"

## prove

zero=$(printf '0%.0s' {1..64})
r=0100000000000000000000000000000000000000000000000000000000000000
r_is_modulus=01000000fffffffffe5bfeff02a4bd5305d8a10908d83933487d9d2953a7ed73
expect 0 "wrote a.proof, verified" prove --key a.params --r1cs $chain/mulchain.r1cs \
    --wtns $chain/mul.wtns --proof a.proof --public a.inputs
[ "$(stat -c %s a.proof)" -eq 192 ] || fail "a proof has 192 bytes"
[ "$(stat -c %s a.inputs)" -eq 64 ] || fail "two inputs have 64 bytes"
expect 0 "b2_msm" prove --key a.zkey --wtns $chain/mul.wtns --proof a-proof.json \
    --public a-public.json --verbose
grep -q "^eval .* total .* ms$" out || fail "--verbose does not print one line of times"
expect 0 "wrote a2.proof" prove --key a.params --r1cs $chain/mulchain.r1cs \
    --wtns $chain/mul.wtns --proof a2.proof
cmp -s a.proof a2.proof && fail "two proofs with fresh blinding are the same"
for i in 1 2; do
    expect 0 "wrote rs$i.proof" prove --key a.params --r1cs $chain/mulchain.r1cs \
        --wtns $chain/mul.wtns --proof rs$i.proof --r $r --s $zero --threads $i
done
same rs1.proof rs2.proof
expect 0 "wrote with-r1cs.json" prove --key a.zkey --r1cs $chain/mulchain.r1cs \
    --wtns $chain/mul.wtns --proof with-r1cs.json

proving=(prove --key a.params --r1cs $chain/mulchain.r1cs --wtns $chain/mul.wtns --proof x.proof)
expect 2 "--r and --s are given together" "${proving[@]}" --r $r
expect 2 "--r wants 64 hexadecimal digits" "${proving[@]}" --r 12 --s $r
expect 2 "--s is not below r" "${proving[@]}" --r $r --s $r_is_modulus
expect 2 "--r1cs is missing" prove --key a.params --wtns $chain/mul.wtns --proof x.proof
expect 2 "--key is missing" prove --wtns $chain/mul.wtns --proof x.proof
expect 2 "--wtns is missing" prove --key a.zkey --proof x.proof
expect 2 "--proof is missing" prove --key a.zkey --wtns $chain/mul.wtns
expect 4 "no-such.zkey" prove --key no-such.zkey --wtns $chain/mul.wtns --proof x.proof
expect 3 "a.vk" prove --key a.vk --r1cs $chain/mulchain.r1cs --wtns $chain/mul.wtns --proof x.proof
expect 3 "a.zkey" prove --key a.zkey --wtns a.zkey --proof x.proof
expect 4 "no-folder" prove --key a.zkey --wtns $chain/mul.wtns --proof no-folder/x.proof

# The values of the witness begin at 76.
flip $chain/mul.wtns $((76 + 32 * 500))
expect 3 "does not satisfy constraint" prove --key a.params --r1cs $chain/mulchain.r1cs \
    --wtns flipped --proof x.proof
expect 3 "does not satisfy the system" prove --key a.zkey --wtns flipped --proof x.proof
expect 3 "does not satisfy constraint" prove --key a.zkey --r1cs $chain/mulchain.r1cs \
    --wtns flipped --proof x.proof
flip a.params 100000
expect 4 "the key is corrupt" prove --key flipped --r1cs $chain/mulchain.r1cs \
    --wtns $chain/mul.wtns --proof x.proof
expect 3 "short.r1cs" prove --key a.params --r1cs short.r1cs --wtns $chain/mul.wtns --proof x.proof
[ -e x.proof ] && fail "a failed proof leaves a file"

## verify

expect 0 "proof 0: valid" verify --vk a.vk --inputs a.inputs --proof a.proof
expect 0 "1 of 1 proof valid" verify --vk a.vk --inputs a.inputs --proof a.proof
expect 0 "1 of 1 proof valid" verify --vk a.json --public a-public.json --proof a-proof.json
expect 0 "1 of 1 proof valid" verify --vk a.json --public a-public.json --proof with-r1cs.json
cat a.proof a2.proof rs1.proof >three.proof
cat a.inputs a.inputs a.inputs >three.inputs
expect 0 "3 of 3 proofs valid" verify --vk a.vk --inputs three.inputs --proof three.proof
expect 1 "proof 0: invalid" verify --vk c.vk --inputs a.inputs --proof a.proof
expect 1 "0 of 1 proof valid" verify --vk a.json --inputs a.inputs --proof a.proof
flip three.inputs 64
expect 1 "proof 1: invalid" verify --vk a.vk --inputs flipped --proof three.proof
expect 1 "2 of 3 proofs valid" verify --vk a.vk --inputs flipped --proof three.proof
expect 3 "want 6 values, found 2" verify --vk a.vk --inputs a.inputs --proof three.proof
expect 0 "10 of 10 proofs valid" verify --vk $seal/seal32.vk --inputs $seal/seal32.inputs \
    --proof $seal/seal32.proof
expect 0 "proof 9: valid" verify --vk $seal/seal32.vk --inputs $seal/seal32.inputs \
    --proof $seal/seal32.proof

# One flipped bit anywhere in a proof: another point (invalid), or none (malformed).
for at in 0 1 47 48 49 143 144 145 191; do
    flip a.proof $at $((at % 8))
    status=0
    "$bin/cuzk" verify --vk a.vk --inputs a.inputs --proof flipped >out 2>errors || status=$?
    case $status in
    1) grep -q "proof 0: invalid" out || fail "flip at $at: $(cat out)" ;;
    3) grep -q "^cuzk: flipped.*" errors || fail "flip at $at: $(cat errors)" ;;
    *) fail "flip at $at: status $status" ;;
    esac
done
# The flag of the sign: the opposite point, which is a point but not the proof.
flip a.proof 0 5
expect 1 "proof 0: invalid" verify --vk a.vk --inputs a.inputs --proof flipped
flip a.proof 0 7
expect 3 "flipped" verify --vk a.vk --inputs a.inputs --proof flipped
# The key: a bit of a coordinate leaves the curve.
flip a.vk 95
expect 3 "flipped" verify --vk flipped --inputs a.inputs --proof a.proof
# An input that is not below r.
printf "$(sed 's/../\\x&/g' <<<"$r_is_modulus")" >modulus
cat modulus modulus >flipped
expect 3 "flipped" verify --vk a.vk --inputs flipped --proof a.proof

expect 2 "--vk is missing" verify --inputs a.inputs --proof a.proof
expect 2 "--proof is missing" verify --vk a.vk --inputs a.inputs
expect 2 "one of --inputs and --public is needed, not none" verify --vk a.vk --proof a.proof
expect 2 "not both" verify --vk a.vk --inputs a.inputs --public a-public.json --proof a.proof
expect 2 "Too many arguments" verify --vk a.vk --inputs a.inputs --proof a.proof more
expect 4 "no-such.vk" verify --vk no-such.vk --inputs a.inputs --proof a.proof
expect 3 "a-proof.json" verify --vk a-proof.json --inputs a.inputs --proof a.proof
head -c 100 a.proof >short.proof
expect 3 "short.proof" verify --vk a.vk --inputs a.inputs --proof short.proof
: >empty
expect 3 "empty" verify --vk a.vk --inputs a.inputs --proof empty
expect 3 "empty" verify --vk empty --inputs a.inputs --proof a.proof

## inspect

expect 0 "constraints: 1000" inspect $chain/mulchain.r1cs
expect 0 "values: 1003" inspect $chain/mul.wtns
expect 0 "kind: snarkjs proving key" inspect a.zkey
expect 0 "kind: bellperson parameters" inspect a.params
expect 0 "kind: bellperson verifying key" inspect a.vk
expect 0 "proofs: 3" inspect three.proof
expect 0 "values: 2" inspect a.inputs
expect 0 "kind: snarkjs verifying key" inspect a.json
expect 0 "kind: snarkjs proof" inspect a-proof.json
expect 0 "kind: snarkjs public inputs" inspect a-public.json
expect 0 "checked: every point is on its curve and of order r" inspect a.params --check
expect 0 "checked: every point is on its curve and of order r" inspect a.zkey --check
expect 0 '"public inputs": 2' inspect a.vk --json
if python=$(command -v python3); then
    for f in $chain/mulchain.r1cs $chain/mul.wtns a.zkey a.vk a.params three.proof a.inputs a.json \
        a-proof.json a-public.json; do
        "$bin/cuzk" inspect "$f" --json --digest --check | "$python" -c '
import json, sys
said = json.loads(sys.stdin.read())
missing = {"file", "kind", "told by", "bytes", "checked", "digest", "published as"} - said.keys()
assert said["file"] == sys.argv[1] and not missing, missing
assert all(type(said[key]) in (int, str) for key in said)' "$f" ||
            fail "inspect --json $f is not the JSON that it should be"
    done
fi

# What nothing marks: the name tells, else the values, and --type before everything.
expect 0 "told by: its content" inspect three.proof
expect 0 "told by: its name" inspect a.vk
flip a.proof 0 7
cp flipped malformed.proof
expect 3 "malformed.proof: offset 0: A of the proof" inspect malformed.proof
expect 3 "malformed.proof: offset 0: A of the proof" inspect malformed.proof --json
cp a.proof proof.inputs
expect 0 "kind: proofs" inspect proof.inputs
head -c 900 a.vk >short.vk
expect 3 "short.vk: offset 868: ic" inspect short.vk
cp a.vk nameless
expect 0 "kind: bellperson verifying key" inspect nameless
expect 0 "told by: its size and values, a guess" inspect nameless
expect 0 "told by: --type" inspect nameless --type vk
expect 3 "nameless: offset 1152: proof 6" inspect nameless --type proof
expect 2 "--type key: there is no such type" inspect nameless --type key
# A verifying key that begins like JSON is none.
{ printf '\n['; tail -c +3 a.vk; } >bracket
expect 0 "kind: bellperson verifying key" inspect bracket

expect 0 "digest: " inspect a.params --digest
flip a.params 100000
expect 3 "flipped" inspect flipped --check
head -c 100000 a.params >short.params
expect 3 "short.params" inspect short.params
head -c 100000 a.zkey >short.zkey
expect 3 "short.zkey" inspect short.zkey
for f in "$vectors"/verify/*/*.vk "$vectors"/reference/*.vk; do
    expect 0 "kind: bellperson verifying key" inspect "$f" --check
done
for f in "$vectors"/verify/*/*.proof "$vectors"/reference/*.proof; do
    expect 0 "kind: proofs" inspect "$f"
done
for f in "$vectors"/verify/*/*.inputs "$vectors"/reference/*.inputs; do
    expect 0 "kind: public inputs" inspect "$f"
done
printf 'nothing known' >unknown
expect 3 "unknown: " inspect unknown
expect 3 "empty: " inspect empty
expect 4 "no-such" inspect no-such
expect 2 "a file is missing" inspect
expect 2 "one file" inspect a.vk a.params

## --threads and CUZK_THREADS

for n in 0 -1 x 2x 1025 ""; do
    expect 2 "--threads is a number from 1 to 1024" inspect a.vk --threads="$n"
done
expect 2 "--threads is a number" --threads=x inspect a.vk
export CUZK_THREADS=many
expect 2 "CUZK_THREADS is a number from 1 to 1024, not \"many\"" inspect a.vk
expect 0 "public inputs: 2" inspect a.vk --threads 2
export CUZK_THREADS=2
expect 0 "1 of 1 proof valid" verify --vk a.vk --inputs a.inputs --proof a.proof

[ "$failures" -eq 0 ] || echo "$failures failures" >&2
[ "$failures" -eq 0 ]
