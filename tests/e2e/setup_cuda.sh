#!/usr/bin/env bash
# Keys made by the CUDA backend: over a twin of the card in the host's memory, which stands where only
# tests look. The reference made the same key from the same secrets.
set -uo pipefail
bin=$(realpath "$1")
twin=$(realpath "$bin/../twin/libcuzk_cuda.so")
vk=$(realpath "$(dirname "$0")/../vectors/reference/window-2KiB.vk")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export CUZK_CACHE=$work/cache CUZK_TWIN_DEVICES=1
failures=0

fail() {
    echo "setup_cuda.sh: $*" >&2
    failures=$((failures + 1))
}

# expect STATUS WORDS ARGUMENTS...: `cuzk setup ARGUMENTS` ends with STATUS and says WORDS.
expect() {
    local want=$1 words=$2 status=0
    shift 2
    "$bin/cuzk" setup "$@" >out 2>errors || status=$?
    [ "$status" -eq "$want" ] || fail "$*: status $status, not $want: $(cat errors)"
    grep -qF -- "$words" out errors || fail "$*: \"$words\" is not in: $(cat out errors)"
}

circuit=(--circuit window-2KiB --out keys --seed-name ref --insecure)
expect 0 "on CUDA device 0" "${circuit[@]}" --device 0 --cuda-library "$twin"
want=c5a3ba9fee9d89eceb851ecf30ff13d9fda2018ede2ad0719b8f71f371e6a146
sum=$(sha256sum keys/*.params | cut -d' ' -f1)
[ "$sum" = $want ] || fail "the key's digest is $sum"
cmp -s keys/*.vk "$vk" || fail "the verifying key is not the reference's"

expect 2 "--device makes keys of a --circuit only" --r1cs x.r1cs --out x.params --device 0
expect 2 "not the number of a device" "${circuit[@]}" --device first
expect 2 "--cuda-library is for --device" "${circuit[@]}" --cuda-library "$twin"
expect 4 "--device 1: 1 CUDA devices answer" "${circuit[@]}" --device 1 --cuda-library "$twin"
expect 4 "there is no such file" "${circuit[@]}" --device 0 --cuda-library ./nowhere.so
CUZK_TWIN_DEVICES=0 expect 4 "--device 0: 0 CUDA devices answer" "${circuit[@]}" --device 0 \
    --cuda-library "$twin"

[ $failures -eq 0 ] && echo "setup_cuda.sh: all is well"
exit $((failures > 0))
