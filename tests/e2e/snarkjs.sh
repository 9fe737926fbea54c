#!/usr/bin/env bash
# Proofs, keys and verifying keys go both ways between cuzk and snarkjs. The argument is the folder of
# programs. snarkjs comes from npm, into the build folder, once; without it the test is skipped.
set -euo pipefail

bin=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
node_folder=$bin/../snarkjs
version=0.7.6

. "$root/tests/e2e/support/npm.sh"
cli=node_modules/snarkjs/build/cli.cjs
npm_packages "$node_folder" "$cli" "snarkjs@$version"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Runs a command and shows its output only when it fails.
quiet() {
    if ! "$@" >"$work/log" 2>&1; then
        echo "FAILED: $*" >&2
        cat "$work/log" >&2
        exit 1
    fi
}

cuzk() { "$bin/cuzk" "$@"; }
snarkjs() { node "$node_folder/$cli" "$@"; }

vector() {
    local folder
    for folder in "$root/tests/vectors" "$root/../shared/vectors"; do
        if [ -r "$folder/snarkjs/chain1k/$1" ]; then
            echo "$folder/snarkjs/chain1k/$1"
            return
        fi
    done
}

# verify_both VK PUBLIC PROOF: valid for both programs.
verify_both() {
    quiet cuzk verify --vk "$1" --public "$2" --proof "$3"
    quiet snarkjs groth16 verify "$1" "$2" "$3"
}

# refuse_both VK PUBLIC PROOF: invalid for both programs; cuzk says so with status 1.
refuse_both() {
    local status=0
    cuzk verify --vk "$1" --public "$2" --proof "$3" >"$work/log" 2>&1 || status=$?
    if [ $status -ne 1 ]; then
        echo "FAILED: cuzk verify of a wrong statement ended with status $status, not 1" >&2
        cat "$work/log" >&2
        exit 1
    fi
    if snarkjs groth16 verify "$1" "$2" "$3" >"$work/log" 2>&1; then
        echo "FAILED: snarkjs accepts a wrong statement" >&2
        exit 1
    fi
}

# both_prove KEY WTNS VK: each program proves with a zkey, both verify both proofs, and both name the
# same public inputs.
both_prove() {
    quiet cuzk prove --key "$1" --wtns "$2" --proof "$work/ours.json" --public "$work/ours_public.json"
    quiet snarkjs groth16 prove "$1" "$2" "$work/theirs.json" "$work/theirs_public.json"
    verify_both "$3" "$work/ours_public.json" "$work/ours.json"
    verify_both "$3" "$work/theirs_public.json" "$work/theirs.json"
    quiet node -e '
        const [a, b] = process.argv.slice(1).map(f => JSON.parse(require("fs").readFileSync(f)));
        require("assert").deepStrictEqual(a, b)' "$work/ours_public.json" "$work/theirs_public.json"
}

# vk_of_params F.params VK.json: the verifying key at the head of a bellperson key, whose points are
# big-endian coordinates, those over Fp2 with c1 first.
vk_of_params() {
    node -e '
        const fs = require("fs"), [params, out] = process.argv.slice(1), b = fs.readFileSync(params);
        let at = 0;
        const int = () => BigInt("0x" + b.subarray(at, at += 48).toString("hex")).toString();
        const g1 = () => [int(), int(), "1"];
        const pair = () => { const c1 = int(); return [int(), c1]; };
        const g2 = () => [pair(), pair(), ["1", "0"]];
        const vk = { protocol: "groth16", curve: "bls12381" };
        vk.vk_alpha_1 = g1();
        g1(); // beta in G1
        vk.vk_beta_2 = g2();
        vk.vk_gamma_2 = g2();
        g1(); // delta in G1
        vk.vk_delta_2 = g2();
        const n = b.readUInt32BE(at);
        at += 4;
        vk.nPublic = n - 1;
        vk.IC = Array.from({ length: n }, g1);
        fs.writeFileSync(out, JSON.stringify(vk))' "$1" "$2"
}

r1cs=$(vector mulchain.r1cs)
wtns=$(vector mul.wtns)
[ -n "$r1cs" ] && [ -n "$wtns" ] || skip "vectors snarkjs/chain1k are not here"

left_out=
for name in mul mul_d mul_x; do
    key=$(vector $name.zkey)
    if [ -z "$key" ]; then
        left_out="$left_out $name.zkey"
        continue
    fi
    quiet snarkjs zkey export verificationkey "$key" "$work/vk.json"
    both_prove "$key" "$wtns" "$work/vk.json"
    echo "$name.zkey: both prove, both verify both proofs"
    shipped=$(vector ${name}_vk.json)
    if [ -n "$shipped" ]; then
        quiet cuzk verify --vk "$shipped" --public "$work/ours_public.json" --proof "$work/ours.json"
        echo "${name}_vk.json: our proof verifies"
    fi
done

key=$(vector mul_d.params)
if [ -n "$key" ]; then
    quiet cuzk prove --key "$key" --r1cs "$r1cs" --wtns "$wtns" --proof "$work/ours.json" \
        --public "$work/ours_public.json"
    vk_of_params "$key" "$work/vk.json"
    verify_both "$work/vk.json" "$work/ours_public.json" "$work/ours.json"
    echo "mul_d.params: our proof verifies in both"
else
    left_out="$left_out mul_d.params"
fi

quiet cuzk setup --r1cs "$r1cs" --out "$work/own.zkey" --vk "$work/own_vk.json"
quiet snarkjs zkey export verificationkey "$work/own.zkey" "$work/own_vk2.json"
both_prove "$work/own.zkey" "$wtns" "$work/own_vk.json"
quiet cuzk verify --vk "$work/own_vk2.json" --public "$work/theirs_public.json" --proof "$work/theirs.json"
echo "zkey of our setup: both prove, both verify both proofs"

sed '0,/[0-9]"/s//7"/; t' "$work/theirs_public.json" >"$work/other_public.json"
if cmp -s "$work/theirs_public.json" "$work/other_public.json"; then
    sed '0,/[0-9]"/s//8"/' "$work/theirs_public.json" >"$work/other_public.json"
fi
refuse_both "$work/own_vk.json" "$work/other_public.json" "$work/theirs.json"
echo "another public input: both refuse"

quiet cuzk setup --r1cs "$r1cs" --out "$work/own.params" --vk "$work/own_vk.json"
quiet cuzk prove --key "$work/own.params" --r1cs "$r1cs" --wtns "$wtns" --proof "$work/ours.json" \
    --public "$work/ours_public.json"
quiet snarkjs groth16 verify "$work/own_vk.json" "$work/ours_public.json" "$work/ours.json"
echo "params of our setup: our proof verifies in snarkjs"

# A circuit with rows of many kinds, variables missing from A and B, and several public inputs.
quiet "$bin/write_circuit" 1000 "$work/gen.r1cs" "$work/gen.wtns"
quiet snarkjs wtns check "$work/gen.r1cs" "$work/gen.wtns"
quiet cuzk setup --r1cs "$work/gen.r1cs" --out "$work/gen.zkey" --vk "$work/gen_vk.json"
both_prove "$work/gen.zkey" "$work/gen.wtns" "$work/gen_vk.json"
echo "a generated circuit: snarkjs accepts the witness, both prove, both verify both proofs"

[ -z "$left_out" ] || echo "left out, not here:$left_out"
