"""What the tests of the daemon share: a daemon in a folder of its own, its clients, requests whose proofs
can be checked, and scenarios that are told by name. The first argument of a test is the folder of the
programs; more arguments pick scenarios."""
import atexit
import base64
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "..", "..", ".."))
BIN = os.path.realpath(sys.argv[1])
VECTORS = os.path.join(ROOT, "tests", "vectors", "reference")
SHARED = os.path.join(ROOT, "..", "shared", "vectors", "reference")
WORK = tempfile.mkdtemp()
KEYS = os.path.join(WORK, "keys")
KINDS = {"porep-c2": 1, "snap-update": 2, "window-post": 3, "winning-post": 4}
LOW, NORMAL, HIGH, CRITICAL = 1, 2, 3, 4
_daemons = []


def _clean():
    for d in _daemons:
        d.kill()
    shutil.rmtree(WORK, ignore_errors=True)


atexit.register(_clean)


def skip_all(why):
    print("skipped:", why)
    sys.exit(77)


class Skip(Exception):
    """A scenario that cannot run here."""


try:
    import grpc
    import google.protobuf  # noqa: F401
except ImportError:
    skip_all("grpcio is not here")
if not shutil.which("protoc"):
    skip_all("protoc is not here")


def _descriptions():
    subprocess.run(["protoc", "-I", os.path.join(ROOT, "proto"), "--python_out", WORK,
                    "cuzk/v1/proving.proto"], check=True)
    more = ["grpc/health/v1/health.proto", "grpc/reflection/v1alpha/reflection.proto"]
    if os.path.exists(os.path.join("/usr/share/grpc-proto", more[0])):
        subprocess.run(["protoc", "-I", "/usr/share/grpc-proto", "--python_out", WORK, *more], check=True)
        os.rename(os.path.join(WORK, "grpc"), os.path.join(WORK, "descriptions"))  # grpc is grpcio's
    sys.path[:0] = [WORK, os.path.join(WORK, "descriptions")]


_descriptions()
from cuzk.v1 import proving_pb2 as pb  # noqa: E402

STATUS = pb.AwaitProofResponse


# ---- keys, requests, proofs ----

def scalar(name):
    digest = hashlib.sha256(name.encode()).digest()
    return digest[:31] + bytes([digest[31] & 0x3f])


RANDOMNESS = scalar("post randomness")


def vector(name):
    with open(os.path.join(VECTORS, name), "rb") as f:
        return f.read()


def make_key(circuit):
    """The key whose verifying key lies among the vectors."""
    subprocess.run([os.path.join(BIN, "cuzk"), "setup", "--circuit", circuit, "--out", KEYS, "--seed-name",
                    "ref", "--insecure"], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "CUZK_CACHE": KEYS})


def window(request_id="", sectors=(0, 1), **fields):
    """A WindowPoSt request as Curio makes them."""
    fields.setdefault("priority", HIGH)
    return pb.SubmitProofRequest(
        request_id=request_id,
        **{"proof_kind": pb.WINDOW_POST_PARTITION, "sector_size": 2048, "registered_proof": 10, "miner_id": 1000, "randomness": RANDOMNESS,
           "vanilla_proofs": [vector(f"window-2KiB.sector{s}.bincode") for s in sectors], **fields})


def winning(request_id="", **fields):
    fields.setdefault("priority", CRITICAL)
    return pb.SubmitProofRequest(
        request_id=request_id,
        **{"proof_kind": pb.WINNING_POST, "sector_size": 2048, "registered_proof": 0, "miner_id": 1000, "randomness": RANDOMNESS,
           "vanilla_proofs": [vector("winning-2KiB.sector0.bincode")], **fields})


def valid(proof, circuit="window-2KiB", sectors=(0, 1)):
    """True when `cuzk verify` says so, of the bytes that a client got."""
    path = os.path.join(WORK, "proof-to-verify")
    with open(path, "wb") as f:
        f.write(proof)
    inputs = []
    for s in sectors:
        inputs += ["--input", os.path.join(VECTORS, f"{circuit}.sector{s}.bincode")]
    done = subprocess.run([os.path.join(BIN, "cuzk"), "verify", "--circuit", circuit, "--randomness",
                           RANDOMNESS.hex(), *inputs, "--vk", os.path.join(VECTORS, circuit + ".vk"),
                           "--proof", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "CUZK_CACHE": KEYS})
    assert done.returncode in (0, 1), done.stderr
    return done.returncode == 0


def check_proof(response, circuit="window-2KiB", sectors=(0, 1)):
    """Asserts that an AwaitProofResponse has a proof that verifies."""
    assert response.status == STATUS.COMPLETED, response
    assert valid(response.proof, circuit, sectors), "the proof is not valid"


# ---- the daemon ----

def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def until(what, fn, seconds=30):
    """The first true value of fn()."""
    end = time.monotonic() + seconds
    while True:
        value = fn()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)


class Daemon:
    """A daemon in a folder; the folder may be that of one before."""

    def __init__(self, settings=None, folder=None, fault=None, env=None, ready=True):
        self.folder = folder or tempfile.mkdtemp(dir=WORK)
        self.path = os.path.join(self.folder, "sock")
        self.http = f"127.0.0.1:{free_port()}"
        self.config = os.path.join(self.folder, "cuzk.toml")
        self.log_file = os.path.join(self.folder, f"log{len(_daemons)}")
        self.settings = {"daemon.listen": "unix://" + self.path, "daemon.status_listen": self.http,
                         "srs.param_cache": KEYS, "srs.circuit_cache": KEYS,
                         "store.path": os.path.join(self.folder, "store"),
                         "memory.safety_margin": "100MiB", "logging.format": "json", **(settings or {})}
        self.configure()
        notify = os.path.join(self.folder, "notify")
        if os.path.exists(notify):
            os.unlink(notify)
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(notify)
        command = [os.path.join(BIN, "cuzk-daemon"), "--config", self.config]
        if fault:
            command += ["--fault", fault]
        with open(self.log_file, "wb") as log:
            self.process = subprocess.Popen(command, stderr=log, stdin=subprocess.DEVNULL,
                                            env={**os.environ, "NOTIFY_SOCKET": notify, **(env or {})})
        _daemons.append(self)
        if ready:
            self.await_message("READY=1")

    def configure(self, **changes):
        """Writes the configuration; a keyword's __ stands for the dot of a key."""
        self.settings.update({k.replace("__", "."): v for k, v in changes.items()})
        with open(self.config, "w") as f:
            for key, value in self.settings.items():
                f.write(f"{key} = {json.dumps(value)}\n")

    def await_message(self, words, seconds=30):
        """The first message to the service manager that has these words."""
        self.notify.settimeout(0.2)
        end = time.monotonic() + seconds
        while True:
            try:
                message = self.notify.recv(4096).decode()
                if words in message:
                    return message
            except TimeoutError:
                pass
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"no {words}: {self.text()[-2000:]}")

    def text(self):
        with open(self.log_file, errors="replace") as f:
            return f.read()

    def log(self, words):
        """The log's lines, as objects, that have these words."""
        return [json.loads(line) for line in self.text().splitlines() if words in line and line[0] == "{"]

    def await_log(self, words, seconds=30):
        return until(f"\"{words}\" in the log", lambda: self.log(words), seconds)

    def address(self):
        """Where it serves, from its log: for a port that the system chose."""
        return self.log("ready, serving on")[0]["msg"].split()[-1]

    def worker_pids(self):
        return [line["pid"] for line in self.log("worker process started")]

    def client(self, **options):
        return Client("unix://" + self.path, **options)

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        """Asks for a clean end, and has it."""
        self.signal(signal.SIGTERM)
        status = self.process.wait(60)
        assert status == 0, f"status {status}: {self.text()[-2000:]}"

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.notify.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None and self.process.poll() is None:
            self.stop()
        elif kind:
            print(f"--- log of the daemon, its end\n{self.text()[-3000:]}\n---")
        self.kill()


class Client:
    """The RPCs of ProvingEngine as methods; and anything else of a channel."""

    def __init__(self, target, credentials=None, token=None):
        options = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1),
                   ("grpc.use_local_subchannel_pool", 1)]
        self.channel = (grpc.secure_channel(target, credentials, options) if credentials
                        else grpc.insecure_channel(target, options))
        self.metadata = [("authorization", "Bearer " + token)] if token else []
        for method in pb.DESCRIPTOR.services_by_name["ProvingEngine"].methods:
            make = (self.channel.unary_stream if method.name == "WatchJob" else self.channel.unary_unary)
            setattr(self, method.name, self._bound(make(
                "/cuzk.v1.ProvingEngine/" + method.name,
                getattr(pb, method.input_type.name).SerializeToString,
                getattr(pb, method.output_type.name).FromString)))

    def _bound(self, call):
        def invoke(request, timeout=60, future=False):
            return (call.future if future else call)(request, timeout=timeout, metadata=self.metadata)
        return invoke

    def raw(self, method, message, timeout=20):
        """Any bytes as a request."""
        return self.channel.unary_unary("/cuzk.v1.ProvingEngine/" + method)(
            message, timeout=timeout, metadata=self.metadata)

    def submit(self, request, **options):
        return self.SubmitProof(request, **options).job_id

    def wait(self, job_id, timeout_ms=0, **options):
        return self.AwaitProof(pb.AwaitProofRequest(job_id=job_id, timeout_ms=timeout_ms), **options)

    def prove(self, request, **options):
        return self.Prove(pb.ProveRequest(submit=request), **options).result

    def events(self, job_id=""):
        return self.GetTimeline(pb.GetTimelineRequest(job_id=job_id)).events

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()


def refused(code, words, fn, what=""):
    """fn() is answered with this status, in one sentence that has these words."""
    try:
        answer = fn()
    except grpc.RpcError as e:
        assert e.code() == code, f"{what}: want {code}, found {e.code()}: {e.details()}"
        assert words in e.details(), f"{what}: no \"{words}\" in: {e.details()}"
        assert "\n" not in e.details() and len(e.details()) < 400, f"{what}: {e.details()}"
        return e.details()
    raise AssertionError(f"{what}: was accepted: {str(answer)[:500]}")


def porep_wrapper(name, number, size):
    """The JSON that Curio wraps a commit-phase-1 output in."""
    return json.dumps({"SectorNum": number, "Phase1Out": base64.b64encode(vector(name)).decode(),
                       "SectorSize": size}).encode()


def main(*scenarios):
    """Runs the scenarios, all or those named on the command line."""
    picked = sys.argv[2:]
    failures = 0
    for scenario in scenarios:
        name = scenario.__name__
        if picked and name not in picked:
            continue
        begin = time.monotonic()
        try:
            scenario()
            word = "ok"
        except Skip as e:
            word = f"skipped: {e}:"
        except Exception:  # a test goes on to its next scenario
            traceback.print_exc()
            failures += 1
            word = "FAILED"
        print(f"{word} {name} ({time.monotonic() - begin:.1f} s)", flush=True)
    sys.exit(1 if failures else 0)
