#!/usr/bin/env bash
# grpc_js BIN: grpc-js, the other client that people have, calls every RPC of the published .proto once.
# It comes from npm, into the build folder, once; without it the test is skipped.
set -euo pipefail

bin=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
node_folder=$bin/../grpc-js
packages=(@grpc/grpc-js@1.12.6 @grpc/proto-loader@0.7.13)

. "$here/support/npm.sh"
npm_packages "$node_folder" node_modules/@grpc/proto-loader/package.json "${packages[@]}"

work=$(mktemp -d)
daemon=
# shellcheck disable=SC2154 # status is set by the trap itself
trap 'status=$?; [ -z "$daemon" ] || kill -9 $daemon 2>/dev/null || true
      [ $status -eq 0 ] || [ $status -eq 77 ] || tail -20 "$work/log" 2>/dev/null; rm -rf "$work"' EXIT

export CUZK_CACHE=$work/keys
"$bin/cuzk" setup --circuit window-2KiB --out "$work/keys" --seed-name ref --insecure >/dev/null
: >"$work/cuzk.toml"
"$bin/cuzk-daemon" --config "$work/cuzk.toml" --set daemon.listen="unix://$work/sock" --set daemon.status_listen= \
    --set srs.param_cache="$work/keys" --set srs.circuit_cache="$work/keys" \
    --set store.path="$work/store" --set memory.safety_margin=100MiB 2>"$work/log" &
daemon=$!
for _ in $(seq 600); do
    grep -q 'cuzk-daemon ready' "$work/log" && break
    kill -0 $daemon || { wait $daemon; exit 1; }
    sleep 0.05
done

NODE_PATH=$node_folder/node_modules timeout 120 node "$here/grpc_js.cjs" "$here/../.." "unix://$work/sock" \
    "$work/proof"
randomness=b3929a15aefaadad1e512efabfda36bc6742d3beeeb8f8b5952440de717fe532 # scalar "post randomness"
reference=$here/../vectors/reference
"$bin/cuzk" verify --circuit window-2KiB --randomness $randomness --vk "$reference/window-2KiB.vk" \
    --input "$reference/window-2KiB.sector0.bincode" --input "$reference/window-2KiB.sector1.bincode" \
    --proof "$work/proof"
kill $daemon
wait $daemon
daemon=
