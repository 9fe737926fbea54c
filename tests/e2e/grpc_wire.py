"""Drives rpc_echo_server with grpcio. Arguments: the server's program. Certificates and generated
modules lie in the current folder (grpc_wire.sh makes them)."""
import os
import subprocess
import sys
import time

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool

sys.path.insert(0, os.path.join(os.getcwd(), "descriptions"))
from health.v1 import health_pb2  # noqa: E402
from reflection.v1alpha import reflection_pb2  # noqa: E402

PROGRAM = sys.argv[1]
OPTIONS = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]


class Server:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        assert self.process.wait(20) == 0


def plain(server):
    return grpc.insecure_channel(server.address, options=OPTIONS)


def expect_status(code, words, fn):
    try:
        fn()
    except grpc.RpcError as e:
        assert e.code() == code, e
        assert words in e.details(), e
        return e
    raise AssertionError(f"no {code}")


def calls():
    with Server("127.0.0.1:0") as server, plain(server) as channel:
        echo = channel.unary_unary("/test.Echo/Echo")
        assert echo(b"hello") == b"hello"
        assert echo(b"") == b""
        wrapper = os.urandom(1 << 20) * 50
        assert echo(wrapper, timeout=60) == wrapper
        assert channel.unary_unary("/test.Echo/Later")(b"later", timeout=20) == b"later"

        before = time.monotonic()
        expect_status(grpc.StatusCode.RESOURCE_EXHAUSTED, "limit of 268435456 bytes",
                      lambda: echo(bytes(300 << 20), timeout=60))
        assert time.monotonic() - before < 30
        assert echo(b"after") == b"after"

        fail = channel.unary_unary("/test.Echo/Fail")
        words = "keine Aufgabe „x“: 100 %\n"
        expect_status(grpc.StatusCode.NOT_FOUND, words, lambda: fail(b"\x05" + words.encode()))
        expect_status(grpc.StatusCode.UNIMPLEMENTED, "/test.Echo/None",
                      lambda: channel.unary_unary("/test.Echo/None")(b""))
        expect_status(grpc.StatusCode.UNIMPLEMENTED, "compressed",
                      lambda: echo(b"x" * 10000, compression=grpc.Compression.Gzip))

        many = list(channel.unary_stream("/test.Echo/Many")(b"500 10000"))
        assert [m[0] for m in many] == [i & 0xFF for i in range(500)]
        chat = channel.stream_stream("/test.Echo/Chat")
        said = [b"x" * (i * 997 % 70000) for i in range(100)]
        assert list(chat(iter(said))) == said

        wait = channel.unary_unary("/test.Echo/Wait")
        expect_status(grpc.StatusCode.DEADLINE_EXCEEDED, "", lambda: wait(b"", timeout=0.2))
        future = wait.future(b"")
        assert future.cancel()

        futures = [echo.future(str(i).encode()) for i in range(1000)]
        assert [int(f.result(20)) for f in futures] == list(range(1000))


def unix_socket():
    path = os.path.join(os.getcwd(), "run", "d.sock")
    with Server("unix://" + path) as server:
        with grpc.insecure_channel("unix://" + path) as channel:
            assert channel.unary_unary("/test.Echo/Echo")(b"hello") == b"hello"
            assert channel.unary_unary("/test.Echo/Peer")(b"").startswith(b"unix:uid=")
        assert os.stat(path).st_mode & 0o777 == 0o660
        second = subprocess.run([PROGRAM, "unix:" + path], stdin=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)
        assert second.returncode == 1 and "another server holds" in second.stderr, second
    assert not os.path.exists(path)


def read(name):
    with open(name, "rb") as f:
        return f.read()


def tls():
    arguments = ["--cert", "localhost.pem", "--key", "localhost.key"]
    with Server(*arguments, "127.0.0.1:0") as server:
        trust = grpc.ssl_channel_credentials(read("ca.pem"))
        with grpc.secure_channel(server.address, trust, OPTIONS) as channel:
            echo = channel.unary_unary("/test.Echo/Echo")
            assert echo(b"hello") == b"hello"
            big = os.urandom(1 << 20) * 20
            assert echo(big, timeout=60) == big
        with plain(server) as channel:
            expect_status(grpc.StatusCode.UNAVAILABLE, "",
                          lambda: channel.unary_unary("/test.Echo/Echo")(b"x", timeout=20))
    with Server(*arguments, "--client-ca", "ca.pem", "127.0.0.1:0") as server:
        mine = grpc.ssl_channel_credentials(read("ca.pem"), read("alice.key"), read("alice.pem"))
        with grpc.secure_channel(server.address, mine) as channel:
            assert channel.unary_unary("/test.Echo/Peer")(b"").endswith(b" cn=alice")
        with grpc.secure_channel(server.address, trust) as channel:
            expect_status(grpc.StatusCode.UNAVAILABLE, "",
                          lambda: channel.unary_unary("/test.Echo/Echo")(b"x", timeout=20))


def token():
    with Server("--token", "s3cret", "127.0.0.1:0") as server, plain(server) as channel:
        echo = channel.unary_unary("/test.Echo/Echo")
        expect_status(grpc.StatusCode.UNAUTHENTICATED, "token", lambda: echo(b"x"))
        assert echo(b"x", metadata=[("authorization", "Bearer s3cret")]) == b"x"
        assert channel.unary_unary("/test.Echo/Open")(b"x") == b"x"


def health():
    with Server("127.0.0.1:0") as server, plain(server) as channel:
        check = channel.unary_unary("/grpc.health.v1.Health/Check",
                                    health_pb2.HealthCheckRequest.SerializeToString,
                                    health_pb2.HealthCheckResponse.FromString)
        watch = channel.unary_stream("/grpc.health.v1.Health/Watch",
                                     health_pb2.HealthCheckRequest.SerializeToString,
                                     health_pb2.HealthCheckResponse.FromString)
        states = health_pb2.HealthCheckResponse
        assert check(health_pb2.HealthCheckRequest()).status == states.NOT_SERVING
        engine = health_pb2.HealthCheckRequest(service="cuzk.v1.ProvingEngine")
        expect_status(grpc.StatusCode.NOT_FOUND, "", lambda: check(engine))
        stream = watch(engine)
        assert next(stream).status == states.SERVICE_UNKNOWN
        for number in (1, 2, 1):
            server.say(f"serving cuzk.v1.ProvingEngine {number}")
            assert next(stream).status == number
        assert check(engine).status == states.SERVING
        stream.cancel()


def reflection():
    ask = reflection_pb2.ServerReflectionRequest
    for version in ("v1alpha", "v1"):
        with Server("127.0.0.1:0") as server, plain(server) as channel:
            info = channel.stream_stream(
                f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
                ask.SerializeToString, reflection_pb2.ServerReflectionResponse.FromString)
            answers = list(info(iter([
                ask(list_services="*"),
                ask(file_containing_symbol="cuzk.v1.ProvingEngine"),
                ask(file_by_filename="cuzk/v1/proving.proto"),
                ask(file_containing_symbol="cuzk.v1.AwaitProofResponse.Status"),
                ask(file_containing_symbol="cuzk.v1.Nothing")])))
            services = {s.name for s in answers[0].list_services_response.service}
            assert "cuzk.v1.ProvingEngine" in services and "grpc.health.v1.Health" in services
            assert answers[4].error_response.error_code == grpc.StatusCode.NOT_FOUND.value[0]
            pool = descriptor_pool.DescriptorPool()
            for answer in answers[1:4]:
                for blob in answer.file_descriptor_response.file_descriptor_proto:
                    pool.Add(descriptor_pb2.FileDescriptorProto.FromString(blob))
            engine = pool.FindServiceByName("cuzk.v1.ProvingEngine")
            assert set(engine.methods_by_name) == {
                "SubmitProof", "AwaitProof", "Prove", "CancelProof", "GetStatus", "GetMetrics",
                "PreloadSRS", "EvictSRS", "GetTimeline", "WatchJob", "ListJobs"}


def drain():
    server = Server("127.0.0.1:0")
    channel = plain(server)
    future = channel.unary_unary("/test.Echo/Wait").future(b"")
    channel.unary_unary("/test.Echo/Echo")(b"")  # the other call has reached the server by now
    server.process.stdin.close()
    error = future.exception(20)
    assert error.code() == grpc.StatusCode.UNAVAILABLE, error
    assert server.process.wait(20) == 0
    channel.close()


for test in (calls, unix_socket, tls, token, health, reflection, drain):
    test()
    print("ok", test.__name__)
