"""cuzk-bench against a daemon: every command, the lines that it prints, the files that it writes."""
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "support"))
import daemon as d  # noqa: E402
from daemon import Daemon, until, valid  # noqa: E402

WINDOW = ["-t", "wpost", "--sector-size", "2KiB", "--randomness", d.RANDOMNESS.hex(),
          "--vanilla", os.path.join(d.VECTORS, "window-2KiB.sector0.bincode"),
          "--vanilla", os.path.join(d.VECTORS, "window-2KiB.sector1.bincode")]
WINNING = ["--type", "winning-post", "--sector-size", "2KiB", "--randomness", d.RANDOMNESS.hex(),
           "--vanilla", os.path.join(d.VECTORS, "winning-2KiB.sector0.bincode")]
SECONDS = r"\d+\.\d"


def bench(*arguments, fails=False, timeout=120):
    """What it prints; of one that is to fail, its one line of why."""
    done = subprocess.run([os.path.join(d.BIN, "cuzk-bench"), *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=timeout, cwd=d.WORK,
                          env={**os.environ, "CUZK_CACHE": d.KEYS})
    told = f"status {done.returncode}: {arguments}: {done.stdout}{done.stderr}"
    assert (0 < done.returncode < 100) == fails and done.returncode >= 0, told
    assert not fails or done.stderr.startswith("cuzk-bench: ") and done.stderr.count("\n") == 1, told
    return done.stderr if fails else done.stdout


def lines(text, *patterns):
    """The patterns match lines of the text, each one after the line of the one before."""
    rest = text.splitlines()
    for p in patterns:
        while rest and not re.fullmatch(p, rest[0]):
            rest.pop(0)
        assert rest, f"no line \"{p}\" (in this order) in:\n{text}"
        rest.pop(0)


def path(name):
    return os.path.join(d.WORK, name)


def read(name, mode="r"):
    with open(path(name), mode) as f:
        return f.read()


def at(server):
    return ["-a", "unix://" + server.path]


def proving():
    with Daemon() as server:
        out = bench(*at(server), "single", *WINDOW, "-o", path("single.proof"))
        lines(out, "=== Proof Result ===", "status: COMPLETED", r"job_id: [0-9a-f-]{36}",
              r"timings: total=\d+ ms \(queue=\d+, srs=\d+, synth=\d+, gpu=\d+\)", r"wall time: .*",
              r"proof: 192 bytes \(hex: [0-9a-f]+\.\.\.\)")
        assert valid(read("single.proof", "rb"))
        array = path("array.json")
        with open(array, "w") as f:  # the reference's form: a JSON array of base64 strings
            json.dump([d.base64.b64encode(d.vector("winning-2KiB.sector0.bincode")).decode()], f)
        out = bench("single", *WINNING[:-1], array, "--addr", "unix://" + server.path)
        lines(out, "status: COMPLETED", r"proof: 192 bytes .*")

        os.mkdir(path("proofs"))
        out = bench(*at(server), "batch", *WINDOW, "-c", "3", "-j", "2", "-o", path("proofs"), "--timeline",
                    path("batch.timeline"))
        each = r"  \[%d/3\] COMPLETED — " + SECONDS + r"s \(prove=\d+ ms, queue=\d+ ms\)"
        lines(out, r"=== Batch: .*count=3, concurrency=2 ===", each % 1, each % 2, each % 3,
              "=== Batch Summary ===", "  total: 3, completed: 3, failed: 0", r"  wall: +avg [\d.]+s, min [\d.]+s, max [\d.]+s",
              r"  prove: +avg \d+ ms, min \d+ ms, max \d+ ms",
              r"  queue: +avg \d+ ms, min .*",
              r"  throughput: +[\d.]+ proofs/min \([\d.]+ s/proof\)",
              r"  device 0: +[\d.]+ % busy, .*", "  bound by: .*")
        for name in os.listdir(path("proofs")):
            assert valid(read("proofs/" + name, "rb")), name
        assert len(os.listdir(path("proofs"))) == 3
        # The reference's long names.
        out = bench(*at(server), "batch", *WINDOW, "--count", "1", "--concurrency", "1")
        lines(out, r"  \[1/1\] COMPLETED — .*", "  total: 1, completed: 1, failed: 0")
        told = bench(*at(server), "single", *WINDOW[:4], *WINDOW[6:], fails=True)
        assert "challenge" in told, told


def asking():
    with Daemon({"gpus.gpu_workers_per_device": 1}, fault="prove:1=slow-2500") as server, \
            server.client() as c:
        c.submit(d.window("runs"))
        server.await_log('"GPU_START"')
        out = bench(*at(server), "status")
        lines(out, r"uptime: \d+ s", "proofs: 0 completed, 0 failed", "devices:",
              "  0: .* GiB free, runs, window-post", "keys:", "  window-2KiB: HOT, .* GiB, 1 users", "queues:",
              "  window-post: 0 pending, 1 in progress")
        c.submit(d.window("waits", sectors=(1, 0)))
        lines(bench(*at(server), "jobs"), r"waits +\S+ +(queued|running) +0/1", r"runs +\S+ +running +0/1")
        lines(bench(*at(server), "cancel", "waits"), "cancelled")
        lines(bench(*at(server), "jobs", "--state", "cancelled"), r"waits .*cancelled.*")
        until("the first ends", lambda: server.log('"DONE"'))
        lines(bench(*at(server), "cancel", "runs"), "it had ended already")
        assert "nobody" in bench(*at(server), "cancel", "nobody", fails=True)
        lines(bench(*at(server), "evict", "-c", "window-2KiB"), "window-2KiB evicted, .* GiB freed")
        lines(bench(*at(server), "evict", "-c", "window-2KiB"), "window-2KiB was not loaded")
        lines(bench(*at(server), "preload", "-c", "window-2KiB"), r"window-2KiB loaded in \d+ ms")
        lines(bench(*at(server), "preload", "--circuit-id", "window-2KiB"), "window-2KiB was loaded already")
        assert ".params" in bench(*at(server), "preload", "-c", "porep-32g", fails=True)
        lines(bench(*at(server), "metrics"), "# TYPE cuzk_proofs_completed_total counter",
              "cuzk_proofs_completed_total 1")
    assert "sock" in bench(*at(server), "status", fails=True)  # nobody is there


def waterfalls():
    with Daemon() as server:
        bench(*at(server), "batch", *WINDOW, "-c", "2")
        names = [path(n) for n in ("w.svg", "w.html", "w.trace", "w.saved")]
        out = bench(*at(server), "waterfall", "--svg", names[0], "--html", names[1], "--trace", names[2],
                    "--save", names[3])
        assert all(f"wrote {n}" in out for n in names[:3]), out
        assert re.search("device 0", out) and len(out.splitlines()) > 8, out
        svg = xml.etree.ElementTree.parse(names[0]).getroot()
        assert svg.tag.endswith("svg")
        html = read("w.html")
        assert html.lower().startswith("<!doctype html") and "<svg" in html and "http://" not in re.sub(
            r"http://www\.w3\.org/\S+", "", html)
        trace = json.loads(read("w.trace"))
        names = {e.get("name") for e in (trace["traceEvents"] if isinstance(trace, dict) else trace)}
        assert len(names) > 4, names
        # A saved timeline and the daemon's log show the same.
        saved = bench("waterfall", "-f", path("w.saved"))
        assert "device 0" in saved, saved
        job = json.loads([li for li in server.text().splitlines() if '"DONE"' in li][0])["job_id"]
        one = bench("waterfall", "--log", path("w.saved"), "--job", job)
        assert "device 0" in one, one
    log = bench("waterfall", "-f", server.log_file)
    assert "device 0" in log, log
    shutil.copy(path("w.saved"), path("first"))
    out = bench("compare", path("first"), path("w.saved"))
    lines(out, "timeline .*proofs .*s/proof.*", r".*first +2 .*", r".*w\.saved +2 .*")


def sweep():
    """compare starts daemons of its own, one for each setting."""
    with open(path("sweep.toml"), "w") as f:
        f.write(f"[srs]\nparam_cache = \"{d.KEYS}\"\ncircuit_cache = \"{d.KEYS}\"\n"
                "[memory]\nsafety_margin = \"100MiB\"\n")
    out = bench("compare", *WINDOW, "--sweep", "gpus.gpu_workers_per_device=1,2", "--config",
                path("sweep.toml"), "-c", "2", "-j", "2")
    lines(out, ".*proofs .*s/proof.*", r"gpu_workers_per_device=1 +2 .*", r"gpu_workers_per_device=2 +2 .*")
    told = bench("compare", *WINDOW, "--sweep", "pipeline.no_such_key=1", "--config", path("sweep.toml"),
                 fails=True)
    assert "no_such_key" in told, told


def stress():
    def spec(arguments, rate):
        text, names = f"rate={rate}", iter(arguments)
        for name in names:
            text += f",{name.lstrip('-').replace('t', 'type') if name == '-t' else name.lstrip('-')}={next(names)}"
        return text

    with Daemon() as server, server.client() as c:
        out = bench(*at(server), "stress", "--duration", "2", "-j", "4", "--job", spec(WINDOW, 120), "--job",
                    spec(WINNING, 60))
        rows = [re.split(" +", li) for li in out.splitlines()]
        head = next(r for r in rows if r[0] == "kind")
        kinds = {r[0]: dict(zip(head, r)) for r in rows if len(r) > 4 and r[1][:1].isdigit()}
        assert len(kinds) == 2, out
        for row in kinds.values():
            assert int(row["submitted"]) >= 1 and row["completed"] == row["submitted"], out
            assert row["failed"] == "0", out
        jobs = c.ListJobs(d.pb.ListJobsRequest()).jobs
        assert len(jobs) == sum(int(r["submitted"]) for r in kinds.values()), out


def without_a_daemon():
    out = bench("synth-only", *WINDOW, "-i", "2")
    lines(out, "window-2KiB, partition 0: read in .*", r"  check [\d.]+ ms, ports .*, expansion .*",
          r"  check [\d.]+ ms, ports .*, expansion .*")
    out = bench("pce-bench", *WINDOW, "--validate", "--save-pce", path("pce"))
    lines(out, r"window-2KiB: \d+ rows, \d+ variables; .*", "  saved in .*", "  evaluation: A .*",
          "  validated: all 21866 rows hold, .*")
    assert os.path.getsize(path("pce")) > 1000
    assert "stress" in bench("--help") and "concurrency" in bench("batch", "--help")
    assert "nothing-like-it" in bench("nothing-like-it", fails=True)


d.make_key("window-2KiB")
d.make_key("winning-2KiB")
d.main(proving, asking, waterfalls, sweep, stress, without_a_daemon)
