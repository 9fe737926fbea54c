#!/usr/bin/env bash
# grpc_wire BIN: gRPC's own client (grpcio) and h2load against the server of src/rpc. BIN is the folder
# of the programs.
set -euo pipefail
bin=$(realpath "${1:?the folder of the programs}")
here=$(realpath "$(dirname "$0")")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# An authority, and certificates of the server and of a client.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=authority \
    -keyout ca.key -out ca.pem 2>/dev/null
sign() { # NAME
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
        -keyout "$1.key" -out "$1.csr" 2>/dev/null
    openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 1 -out "$1.pem" \
        -extfile <(echo "subjectAltName=DNS:localhost,IP:127.0.0.1") 2>/dev/null
}
sign localhost
sign alice

protoc -I /usr/share/grpc-proto --python_out=. grpc/health/v1/health.proto \
    grpc/reflection/v1alpha/reflection.proto
mv grpc descriptions # the package grpc is grpcio's
/usr/bin/python3 "$here/grpc_wire.py" "$bin/rpc_echo_server"

# Many small calls: all answered, none with another HTTP status than 200.
mkfifo in out
"$bin/rpc_echo_server" 127.0.0.1:0 <in >out &
server=$!
exec 3>in
read -r address <out
printf '\0\0\0\0\5hello' >message
h2load -n 20000 -c 8 -m 32 -H 'content-type: application/grpc' -H 'te: trailers' -d message \
    "http://$address/test.Echo/Echo" >load
grep -E '^(finished|requests|status)' load
grep -q '20000 succeeded, 0 failed' load
grep -q 'status codes: 20000 2xx' load
exec 3>&-
wait $server
