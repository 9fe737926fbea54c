#!/usr/bin/env bash
# Malformed files through the command: every one is refused with status 3 and one line that names
# the file and the offset, before anything is computed or written. What only the proof's own
# verification can notice is refused as clearly.
set -uo pipefail
bin=$(realpath "$1")
vectors=$(realpath "$(dirname "$0")/../vectors")
chain=$vectors/snarkjs/chain1k
seal=$vectors/verify/filecoin-v27-32GiB
unset CUZK_THREADS CUZK_ISA

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

fail() {
    echo "malformed.sh:${BASH_LINENO[1]}: $*" >&2
    failures=$((failures + 1))
}

# le N BYTES: N in hexadecimal, the lowest byte first.
le() {
    local i text=
    for ((i = 0; i < $2; i++)); do text+=$(printf %02x $(($1 >> 8 * i & 255))); done
    echo "$text"
}

# put FILE OFFSET HEX: FILE with those bytes there, as the file bad.SUFFIX.
put() {
    local bad=bad.${1##*.}
    [ "$1" -ef "$bad" ] || install -m 644 "$1" "$bad"
    printf "$(sed 's/../\\x&/g' <<<"$3")" | dd of="$bad" bs=1 seek="$2" conv=notrunc status=none
}

# flip FILE OFFSET BIT: FILE with one bit changed, as the file bad.SUFFIX.
flip() { put "$1" "$2" "$(printf %02x $(($(od -An -tu1 -j "$2" -N 1 "$1") ^ 1 << $3)))"; }

# cut_off FILE BYTES: the beginning of FILE, or with a negative number all but its end, as bad.SUFFIX.
cut_off() { head -c "$2" "$1" >"bad.${1##*.}"; }

# section FILE TYPE: where the content of a section begins, in a file of iden3.
section() {
    local at=12 type length size
    size=$(stat -Lc %s "$1")
    while [ "$at" -lt "$size" ]; do
        type=$(od -An -tu4 -j "$at" -N 4 "$1")
        length=$(od -An -tu8 -j $((at + 4)) -N 8 "$1")
        [ "$type" -eq "$2" ] && echo $((at + 12)) && return
        at=$((at + 12 + length))
    done
    return 1
}

# refused OFFSET WORDS BAD ARGUMENTS...: `cuzk ARGUMENTS` ends with status 3 and one line on stderr
# that begins with the file BAD and the OFFSET (a number, or nothing when the text says a line or a
# member) and has WORDS, and writes no file.
refused() {
    local offset=$1 words=$2 bad=$3 status=0
    shift 3
    "$bin/cuzk" "$@" >out 2>errors || status=$?
    [ "$status" -eq 3 ] || fail "cuzk $*: status $status, not 3: $(cat errors)"
    [ "$(wc -l <errors)" -eq 1 ] || fail "cuzk $*: not one line on stderr: $(cat errors)"
    case $(cat errors) in
    "cuzk: $bad: ${offset:+offset $offset: }"*"$words"*) ;;
    *) fail "cuzk $*: not \"$bad: ${offset:+offset $offset: }… $words\": $(cat errors)" ;;
    esac
    [ ! -e x.proof ] && [ ! -e x.params ] && [ ! -e x.vk ] || fail "cuzk $*: a file is written"
    rm -f x.proof x.params x.vk
    rows=$((rows + 1))
}
rows=0

"$bin/cuzk" setup --r1cs $chain/mulchain.r1cs --out k.zkey --seed-name ref --insecure >/dev/null &&
    "$bin/cuzk" setup --r1cs $chain/mulchain.r1cs --out k.params --vk k.vk --seed-name ref \
        --insecure >/dev/null || fail "no keys"
cp $chain/mulchain.r1cs k.r1cs
cp $chain/mul.wtns k.wtns
r1cs() { refused "$1" "$2" bad.r1cs setup --r1cs bad.r1cs --out x.params --vk x.vk; }
wtns() { refused "$1" "$2" bad.wtns prove --key k.zkey --wtns bad.wtns --proof x.proof; }
zkey() { refused "$1" "$2" bad.zkey prove --key bad.zkey --wtns k.wtns --proof x.proof; }
params() {
    refused "$1" "$2" bad.params prove --key bad.params --r1cs k.r1cs --wtns k.wtns --proof x.proof
}
huge=$(le 0xfffffff0 4)
modulus=01000000fffffffffe5bfeff02a4bd5305d8a10908d83933487d9d2953a7ed73
bn254=010000f093f5e1439170b97948e833285d588181b64550b829a031e1724e6430
off_curve=$(printf '01%.0s' {1..16})

## What all files of iden3 share

for kind in r1cs wtns zkey; do
    cut_off k.$kind 0
    $kind 0 "expected 4 bytes, found 0"
    put k.$kind 0 00
    $kind 0 "magic"
    put k.$kind 4 $(le 99 4)
    $kind 4 "version: expected $(od -An -tu4 -j 4 -N 4 k.$kind | tr -d ' '), found 99"
    put k.$kind 8 ffffffff
    $kind 8 "number of sections"
    put k.$kind 12 $(le 77 4)
    $kind 12 "section type"
    put k.$kind 16 ffffffffffffff7f
    $kind 16 "length of section"
    cut_off k.$kind -1
    $kind "" "length of section"
    cp k.$kind bad.$kind
    echo >>bad.$kind
    $kind "$(stat -c %s k.$kind)" "expected the end"
done
cp k.zkey bad.wtns
wtns 0 'magic: expected "wtns"'
cp k.wtns bad.r1cs
r1cs 0 'magic: expected "r1cs"'
for kind in r1cs wtns; do
    head=$(section k.$kind 1)
    put k.$kind "$head" ffffffff
    $kind "$head" "bytes of a field element"
    put k.$kind $((head + 4)) $bn254
    $kind "$head" "BN254"
    put k.$kind $((head + 4)) 02
    $kind $((head + 4)) "curve not supported"
done

## r1cs: u32 wires, outputs, public inputs, private inputs, u64 labels, u32 constraints

at=$(($(section k.r1cs 1) + 36))
rows_at=$(section k.r1cs 2)
put k.r1cs $at $(le 2 4)
r1cs $at "number of wires"
put k.r1cs $at $huge
r1cs "" "expected"
put k.r1cs $((at + 4)) $huge
r1cs $at "number of wires"
put k.r1cs $((at + 24)) $huge
r1cs $((at + 24)) "number of constraints"
put k.r1cs $((at + 24)) $(le 999 4)
r1cs "" "expected the end of the constraints"
put k.r1cs "$rows_at" $huge
r1cs "$rows_at" "number of terms"
put k.r1cs $((rows_at + 4)) $(le 1003 4)
r1cs $((rows_at + 4)) "wire: expected below 1003, found 1003"
put k.r1cs $((rows_at + 8)) $modulus
r1cs $((rows_at + 8)) "coefficient"

## wtns: the values are at 76

values=$(section k.wtns 2)
put k.wtns $((values - 16)) $(le 1002 4)
wtns "" "expected"
put k.wtns "$values" 02
wtns "$values" "expected the constant 1"
put k.wtns $((values + 320)) $modulus
wtns $((values + 320)) "witness value 10"
put k.wtns $((values + 320)) "$(printf 'ff%.0s' {1..32})"
wtns $((values + 320)) "witness value 10"

## zkey

protocol=$(section k.zkey 1)
head=$(section k.zkey 2)
sizes=$((head + 4 + 48 + 4 + 32))
coeffs=$(section k.zkey 4)
put k.zkey "$protocol" 02
zkey "$protocol" "plonk"
put k.zkey "$head" ffffffff
zkey "$head" "bytes of a field element"
put k.zkey $sizes $(le 2003 4)
zkey "" "expected"
put k.zkey $((sizes + 4)) $(le 1003 4)
zkey $((sizes + 4)) "number of public inputs"
for domain in 0 1000 0x80000000; do
    put k.zkey $((sizes + 8)) $(le $domain 4)
    zkey $((sizes + 8)) "domain size"
done
put k.zkey $((sizes + 8)) $(le 2048 4)
zkey "" "expected"
put k.zkey $(($(section k.zkey 9) - 12)) $(le 11 4)
zkey "" "section type"
put k.zkey $(($(section k.zkey 9) - 12)) $(le 5 4)
zkey "" "found 5 twice"
put k.zkey "$coeffs" $huge
zkey "$coeffs" "length of section 4"
put k.zkey $((coeffs + 4)) $(le 7 4)
zkey $((coeffs + 4)) "matrix of coefficient 0: expected 0 or 1, found 7"
for row in 1024 0xfffffff0; do
    put k.zkey $((coeffs + 8)) $(le $row 4)
    zkey $((coeffs + 8)) "constraint of coefficient 0"
done
for var in 1003 0xfffffff0; do
    put k.zkey $((coeffs + 12)) $(le $var 4)
    zkey $((coeffs + 12)) "signal of coefficient 0"
done
put k.zkey $((coeffs + 16)) $modulus
zkey $((coeffs + 16)) "value of coefficient 0"
# What costs a check of each point is asked for.
for list in 3 5 6 7 8 9; do
    at=$(section k.zkey $list)
    put k.zkey "$at" $off_curve
    refused "$at" "not on the curve" bad.zkey inspect --check bad.zkey
    put k.zkey $((at + 40)) ffffffffffffffff
    zkey "$at" "not below p"
done

## vk and params: 868 bytes, ic, then lists with their lengths before them

n_ic=$(od -An -tu1 -j 867 -N 1 k.vk | tr -d ' ')
h=$((868 + 96 * n_ic))
vk() { refused "$1" "$2" bad.vk verify --vk bad.vk --inputs k.inputs --proof k.proof; }
"$bin/cuzk" prove --key k.params --r1cs k.r1cs --wtns k.wtns --proof k.proof --public k.inputs \
    >/dev/null || fail "no proof"
for kind in vk params; do
    cut_off k.$kind 100
    $kind 96 "beta_g1"
    put k.$kind 0 80
    $kind 0 "alpha_g1: expected a finite point of G1, found a point with wrong flag bits"
    put k.$kind 192 "40$(printf '00%.0s' {1..191})"
    $kind 192 "beta_g2: expected a finite point of G2, found the point at infinity"
    put k.$kind 384 1f
    $kind 384 "gamma_g2: expected a finite point of G2, found a coordinate that is not below p"
    put k.$kind 864 00000000
    $kind 864 "length of ic"
    put k.$kind 864 fffffff0
    $kind 868 "ic"
done
cut_off k.vk -1
vk 868 "ic"
cp k.vk bad.vk
echo >>bad.vk
vk $h "expected the end"
flip k.vk 95 0
vk 0 "alpha_g1: expected a finite point of G1, found a point that is not on the curve"
: >bad.vk
vk 0 "alpha_g1"
cut_off k.params -1
params "" "b_g2"
cp k.params bad.params
echo >>bad.params
params "$(stat -c %s k.params)" "expected the end"
put k.params $h 000003fe
params "" "expected"
put k.params $h fffffff0
params $((h + 4)) "h"
put k.params $((h + 4)) 40
params $((h + 4)) "h[0]: expected a finite point of G1, found a point with wrong flag bits"
flip k.params $((h + 4 + 96 * 700)) 0
refused $((h + 4 + 96 * 700)) "h[700]: expected a finite point of G1, found a point that is not on" \
    bad.params inspect --check bad.params

## Proofs and inputs

proof() { refused "$1" "$2" bad.proof verify --vk k.vk --inputs k.inputs --proof bad.proof; }
inputs() { refused "$1" "$2" bad.inputs verify --vk k.vk --inputs bad.inputs --proof k.proof; }
: >bad.proof
proof 0 "proof 0: expected 192 bytes, found 0"
cut_off k.proof 191
proof 0 "proof 0: expected 192 bytes, found 191"
flip k.proof 0 7
proof 0 "A of the proof: expected a finite point of G1, found a point with wrong flag bits"
put k.proof 48 "c0$(printf '00%.0s' {1..95})"
proof 48 "B of the proof: expected a finite point of G2, found the point at infinity"
put k.proof 144 9f
proof 144 "C of the proof: expected a finite point of G1, found a coordinate that is not below p"
# The first point of G1 on the curve with x = 4 is of another order.
put k.proof 144 "80$(printf '00%.0s' {1..46})04"
proof 144 "C of the proof: expected a finite point of G1, found a point that is not in the subgroup"
cat $seal/seal32.proof >k.proofs
put k.proofs $((192 * 7 + 48)) 1f
refused $((192 * 7 + 48)) "B of the proof" bad.proofs verify --vk $seal/seal32.vk \
    --inputs $seal/seal32.inputs --proof bad.proofs
cut_off k.inputs 63
inputs 32 "input 1: expected 32 bytes, found 31"
put k.inputs 32 $modulus
inputs 32 "input 1: expected a little-endian integer below r"

## JSON: text has a line or a member's name

json() { refused "" "$1" bad.json verify "${@:2}"; }
good=(--vk $chain/mul_vk.json --public $chain/mul_public.json --proof $chain/mul_proof.json)
"$bin/cuzk" verify "${good[@]}" >/dev/null || fail "the vector of snarkjs is not valid"
echo '{' >bad.json
refused "" "offset 2 (line 2): expected JSON" bad.json verify "${good[@]}" --proof bad.json
: >bad.json
refused 0 "empty file" bad.json verify "${good[@]}" --proof bad.json
echo '["1", "2' >bad.json
refused "" "expected JSON" bad.json verify "${good[@]}" --public bad.json
echo '["1", 2]' >bad.json
json "input[1]: expected a decimal integer below r in quotes" "${good[@]}" --public bad.json
sed 's/"groth16"/"plonk"/' $chain/mul_proof.json >bad.json
json 'protocol: expected "groth16", found "plonk"' "${good[@]}" --proof bad.json
sed 's/"bls12381"/"bn128"/' $chain/mul_vk.json >bad.json
json 'curve: expected "bls12381", found "bn128"' "${good[@]}" --vk bad.json
sed 's/"nPublic": *2/"nPublic": 3/' $chain/mul_vk.json >bad.json
json "IC: expected an array of 4" "${good[@]}" --vk bad.json
sed 's/"pi_b"/"pi_d"/' $chain/mul_proof.json >bad.json
json "pi_b" "${good[@]}" --proof bad.json

## What only the proof's own verification notices: no offset, but the files and what is wrong

noticed() {
    local words=$1 status=0
    shift
    "$bin/cuzk" prove "$@" --proof x.proof --public x.inputs >out 2>errors || status=$?
    [ "$status" -eq 3 ] || fail "cuzk prove $*: status $status, not 3"
    [ "$(wc -l <errors)" -eq 1 ] && grep -qF -- "$words" errors ||
        fail "cuzk prove $*: not one line with \"$words\": $(cat errors)"
    [ ! -e x.proof ] && [ ! -e x.inputs ] || fail "cuzk prove $*: a file is written"
    rows=$((rows + 1))
}
# The coefficient of a signal that is neither 0 nor ONE's.
flip k.zkey $((coeffs + 4 + 44 * 600 + 12)) 0
noticed "k.wtns with bad.zkey: the proof is not valid under the key: the witness does not satisfy" \
    --key bad.zkey --wtns k.wtns
flip k.zkey "$(section k.zkey 9)" 0
noticed "k.wtns with bad.zkey: the proof is not valid under the key" --key bad.zkey --wtns k.wtns
flip k.wtns $((values + 32 * 500)) 0
noticed "bad.wtns with k.zkey: the proof is not valid under the key: the witness does not satisfy" \
    --key k.zkey --wtns bad.wtns
noticed "bad.wtns with k.params: the witness does not satisfy constraint" \
    --key k.params --r1cs k.r1cs --wtns bad.wtns
# A witness of one value less, well formed.
put k.wtns $((values - 16)) $(le 1002 4)
put bad.wtns $((values - 8)) $(le $((32 * 1002)) 8)
truncate -s -32 bad.wtns
noticed "bad.wtns with k.zkey: the witness has 1002 values, the key wants 1003" \
    --key k.zkey --wtns bad.wtns

## Every instruction set makes the same proof

r=$(printf '07%.0s' {1..31})00
s=$(printf '05%.0s' {1..31})00
for isa in portable adx ifma; do
    CUZK_ISA=$isa "$bin/cuzk" prove --key k.zkey --wtns k.wtns --proof $isa.proof --r $r --s $s \
        >/dev/null || fail "no proof with CUZK_ISA=$isa"
    cmp -s portable.proof $isa.proof || fail "another proof with CUZK_ISA=$isa"
done

echo "$rows malformed files"
[ "$failures" -eq 0 ] || echo "$failures failures" >&2
[ "$failures" -eq 0 ]
