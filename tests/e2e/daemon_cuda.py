"""The daemon over CUDA devices. Its library is the CUDA backend over a twin of the card in the host's memory
(tests/backend/twin), which stands where only these tests look; CUZK_TWIN_DEVICES says how many cards there are."""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "support"))
import daemon as d  # noqa: E402
from daemon import Daemon, check_proof, pb, until  # noqa: E402

TWIN = os.path.realpath(os.path.join(d.BIN, "..", "twin", "libcuzk_cuda.so"))
CUDA = {"gpus.backend": "cuda", "gpus.cuda_library": TWIN}
LONG = 300  # seconds that a proof of the twin may take on a busy machine
FALLBACK = "no CUDA device: proving on the processor"


def cards(n):
    return {"CUZK_TWIN_DEVICES": str(n)}


def cuda_daemon(settings=None, n=1, **options):
    """A daemon whose devices have proved their known circuit, which takes the twin seconds."""
    server = Daemon({**CUDA, **(settings or {})}, ready=False, env={**cards(n), **options})
    server.await_message("READY=1", 180)
    return server


def prove_two(c):
    for sectors in ((0, 1), (1, 0)):
        check_proof(c.prove(d.window(sectors=sectors), timeout=LONG), sectors=sectors)


def two_devices_in_processes_of_their_own():
    with cuda_daemon(n=2) as server, server.client() as c:
        names = [g.name for g in c.GetStatus(pb.GetStatusRequest()).gpus]
        assert names == ["twin", "twin"], names
        assert len(set(server.worker_pids())) == 2, server.text()
        jobs = [(s, c.submit(d.window(sectors=s))) for s in ((0, 1), (1, 0))]
        for sectors, job in jobs:
            check_proof(c.wait(job, timeout=LONG), sectors=sectors)
        pid = server.worker_pids()[0]
        with open(f"/proc/{pid}/maps") as maps:
            assert TWIN in maps.read()
        with open(f"/proc/{pid}/cmdline") as words:
            assert "\0--backend\0cuda\0--device\0" in words.read()


def a_device_in_the_daemon_itself():
    """In this process, with a part of its memory."""
    settings = {"gpus.isolate": False, "gpus.devices": [1], "memory.vram_budget": "1GiB"}
    with cuda_daemon(settings, 2) as server, server.client() as c:
        gpu, = c.GetStatus(pb.GetStatusRequest()).gpus
        assert gpu.vram_total_bytes == 1 << 30, gpu
        prove_two(c)
        assert not server.worker_pids()


def auto_takes_what_answers():
    """The library in ../lib/cuzk beside the program's folder, without a word in the configuration."""
    root = os.path.join(d.WORK, "installed")
    os.makedirs(os.path.join(root, "bin"))
    os.makedirs(os.path.join(root, "lib", "cuzk"))
    shutil.copy(os.path.join(d.BIN, "cuzk-daemon"), os.path.join(root, "bin"))
    shutil.copy(TWIN, os.path.join(root, "lib", "cuzk"))
    built, d.BIN = d.BIN, os.path.join(root, "bin")
    try:
        with cuda_daemon({"gpus.backend": "auto", "gpus.cuda_library": ""}) as server, server.client() as c:
            d.BIN = built
            assert server.log("proving on CUDA devices"), server.text()
            assert [g.name for g in c.GetStatus(pb.GetStatusRequest()).gpus] == ["twin"]
            check_proof(c.prove(d.window(), timeout=LONG))
        d.BIN = os.path.join(root, "bin")
        with Daemon(env=cards(0)) as server:
            line, = server.log(FALLBACK)
            assert "no CUDA device answers" in line["reason"], line
    finally:
        d.BIN = built


def auto_goes_on_without():
    for library, reason in (("libcuzk_nowhere.so", "neither beside this program"),
                            ("libm.so.6", "not cuzk's")):
        with Daemon({"gpus.cuda_library": library}, env=cards(1)) as server, server.client() as c:
            line, = server.log(FALLBACK)
            assert reason in line["reason"], line
            assert [g.name for g in c.GetStatus(pb.GetStatusRequest()).gpus] != ["twin"]


def what_is_missing_is_told():
    for settings, n, status, words in (
            ({"gpus.cuda_library": "libcuzk_nowhere.so"}, 1, 4, "libcuzk_nowhere.so is neither beside"),
            ({"gpus.cuda_library": d.KEYS}, 1, 4, "cannot be loaded"),
            ({}, 0, 4, TWIN + " is there, but no CUDA device answers"),
            ({"gpus.devices": [0, 2]}, 2, 2, "gpus.devices: there is no CUDA device 2, the last is 1")):
        server = Daemon({**CUDA, **settings}, env=cards(n), ready=False)
        assert server.process.wait(20) == status, server.text()
        told = server.text().splitlines()[-1]
        assert told.startswith("cuzk-daemon: ") and words in told, server.text()
        print("  ", told)


def a_lost_device_costs_a_repetition():
    """The device reports an error that does not pass: its process ends, another one loads and proves."""
    lose = os.path.join(d.WORK, "lose")
    with cuda_daemon(CUZK_TWIN_LOSE=lose) as server, server.client() as c:
        check_proof(c.prove(d.window("before"), timeout=LONG))
        with open(lose, "w"):
            pass
        check_proof(c.prove(d.window("across", sectors=(1, 0)), timeout=LONG), sectors=(1, 0))
        assert not os.path.exists(lose)
        gone, = [line for line in server.log("worker process is gone") if line["target"] == "worker"]
        assert "the CUDA device is lost" in gone["reason"], gone
        until("another process", lambda: len(set(server.worker_pids())) == 2)
        retry, = [e for e in c.events("across") if e.event == "RETRY"]
        print("  ", retry.detail)


d.make_key("window-2KiB")
d.main(two_devices_in_processes_of_their_own, a_device_in_the_daemon_itself, auto_takes_what_answers,
       auto_goes_on_without, what_is_missing_is_told, a_lost_device_costs_a_repetition)
