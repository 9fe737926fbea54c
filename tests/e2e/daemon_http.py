"""The HTTP port of a daemon at work: metrics, status, timeline, the live page; and small calls under load.
With PAGE_SHOTS=folder a picture of the page is left there to look at."""
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "support"))
import daemon as d  # noqa: E402
from daemon import Daemon, Skip, check_proof, pb, until  # noqa: E402

JSON = "application/json"


def get(server, path, method="GET"):
    """Status, headers and body."""
    request = urllib.request.Request(f"http://{server.http}{path}", method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.headers, e.read().decode()


def samples(text):
    """What must not fall: samples of counters and of histograms, and of which type each family is."""
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    values = {}
    for name, labels, value in re.findall(r"^([a-z_0-9]+)(\{.*\})? (\S+)$", text, re.M):
        family = name if name in types else re.sub("_(bucket|sum|count)$", "", name)
        assert family in types, name
        if types[family] in ("counter", "histogram"):
            values[name + labels] = float(value)
    return types, values


def metrics():
    """Metrics are as Prometheus wants them, and counters never fall, whatever happens to jobs."""
    with Daemon({"scheduler.partition_retries": 0}, fault="prove:2=wrong") as server, server.client() as c:
        texts = [get(server, "/metrics")[2]]
        check_proof(c.prove(d.window("one")))
        texts.append(get(server, "/metrics")[2])
        assert c.prove(d.window("two")).status == pb.AwaitProofResponse.FAILED
        check_proof(c.prove(d.window("three")))
        c.EvictSRS(pb.EvictSrsRequest(circuit_id="window-2KiB"))
        status, headers, text = get(server, "/metrics")
        assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4"), headers
        texts.append(text)
        for before, after in zip(texts, texts[1:]):
            (types, old), (_, new) = samples(before), samples(after)
            fallen = [k for k, v in old.items() if new.get(k, -1) < v]
            assert not fallen, fallen
            assert "histogram" in types.values() and "counter" in types.values()
        rpc = c.GetMetrics(pb.GetMetricsRequest()).prometheus_text
        assert samples(rpc)[0] == types, "the RPC and the port tell the same families"
        if not shutil.which("promtool"):
            raise Skip("promtool is not here")
        done = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0 and not done.stdout.strip(), done.stdout


REFERENCE = {
    "uptime_secs": None, "memory": {"total_bytes", "used_bytes", "available_bytes"},
    "synthesis": {"max_concurrent", "active"}, "pipelines": None, "gpu_workers": None,
    "allocations": {"srs", "pce"},
    "counters": {"total_completed", "total_failed", "completed_by_kind", "failed_by_kind", "queue_depth"},
    "buffers": {"synth_in_flight", "provers_in_flight", "aux_in_flight", "shells_in_flight",
                "pending_handles"}}
OURS = {"version", "draining", "queue", "residency", "budgets", "utilisation", "failures", "devices"}


def has(thing, keys):
    assert keys <= set(thing), f"{keys - set(thing)} missing in {thing}"


def status():
    with Daemon({"gpus.gpu_workers_per_device": 1}, fault="prove:1=slow-1500,prove:3=wrong") as server, \
            server.client() as c:
        first = c.submit(d.window("porep <b>&amp;\"quoted\""))
        second = c.submit(d.window("second", sectors=(1, 0)))
        server.await_log('"GPU_START"')
        code, headers, text = get(server, "/status")
        assert code == 200 and headers["Content-Type"] == JSON, headers
        assert headers["Access-Control-Allow-Origin"] == "*" and headers["Cache-Control"] == "no-store"
        s = json.loads(text)
        has(s, set(REFERENCE) | OURS)
        for key, members in REFERENCE.items():
            has(s[key], members or set()) if members else None
        job = [p for p in s["pipelines"] if p["job_id"] == first][0]
        has(job, {"job_id", "proof_kind", "started_secs_ago", "total_partitions", "partitions_done",
                  "partitions"})
        assert job["proof_kind"] == "window-post" and job["total_partitions"] == 1, job
        assert job["partitions"][0]["state"] == "gpu", job
        has(job["partitions"][0], {"index", "state", "synth_ms", "gpu_ms"})
        worker = s["gpu_workers"][0]
        has(worker, {"worker_id", "gpu_ordinal", "state", "current_job", "current_partition", "busy_secs"})
        assert worker["state"] == "proving" and worker["current_job"] == first, worker
        has(s["allocations"]["srs"][0], {"circuit_id", "bytes", "last_used_secs_ago", "evictable"})
        has(s["residency"][0], {"circuit_id", "tier", "bytes", "ref_count", "device"})
        assert second in [q["job_id"] for q in s["queue"]], s["queue"]
        has(s["queue"][0], {"job_id", "proof_kind", "priority", "state", "partitions_total",
                            "partitions_done", "waiting_ms"})
        has(s["budgets"][0], {"name", "total", "used", "waiting"})
        assert [b["name"] for b in s["budgets"]] == ["host", "pinned", "device"], s["budgets"]
        has(s["utilisation"], {"gpu", "verdict"})
        has(s["devices"][0], {"device", "name", "state", "memory_total_bytes", "memory_used_bytes",
                              "partitions", "wrong_proofs", "errors"})
        assert set(s["counters"]["completed_by_kind"]) <= set(d.KINDS), s["counters"]
        check_proof(c.wait(first))
        check_proof(c.wait(second), sectors=(1, 0))
        check_proof(c.prove(d.window("third")))
        s = json.loads(get(server, "/status")[2])
        assert s["counters"]["total_completed"] == 3 and s["counters"]["queue_depth"] == 0, s["counters"]
        assert s["counters"]["completed_by_kind"]["window-post"] == 3, s["counters"]
        assert s["devices"][0]["wrong_proofs"] == 1, s["devices"]
        assert {p["job_id"] for p in s["pipelines"]} == {first, second, "third"}
        assert all(p["partitions"][0]["state"] == "done" for p in s["pipelines"]), s["pipelines"]

        t = json.loads(get(server, "/timeline?cursor=0")[2])
        has(t, {"epoch_wall_us", "now_us", "next", "end", "lost", "events", "gaps"})
        assert [e["seq"] for e in t["events"]] == list(range(t["next"])), t["events"]
        assert json.loads(get(server, f"/timeline?cursor={t['next']}")[2])["events"] == []
        for path, method, code in (("/timeline?cursor=x", "GET", 400), ("/timeline?cursor=-1", "GET", 400),
                                   ("/nothing", "GET", 404), ("/statusx", "GET", 404),
                                   ("/status", "POST", 405), ("/status", "HEAD", 200)):
            assert get(server, path, method)[0] == code, path


def page():
    """The live page shows what the daemon does, and shows an id that is HTML as text."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        raise Skip("chromium is not here")
    with Daemon({"gpus.gpu_workers_per_device": 1, "scheduler.partition_retries": 0},
                fault="prove:3=wrong,prove:4=hang") as server, server.client() as c:
        check_proof(c.prove(d.window("wdpost-1000-0")))
        check_proof(c.prove(d.winning("winpost-1000-0a1b2c3d")), "winning-2KiB", (0,))
        c.prove(d.window("wrong-<img src=x>"))
        c.submit(d.window("wdpost-1000-running"))
        c.submit(d.window("wdpost-1000-waits", sectors=(1, 0)))
        until("the last but one runs", lambda: len(server.log('"GPU_START"')) == 4)

        def browse(*options):
            return subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu",
                                   "--disable-dev-shm-usage", "--hide-scrollbars",
                                   "--virtual-time-budget=3000", *options, f"http://{server.http}/"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100,
                                  env={**os.environ, "HOME": d.WORK})

        shots = os.environ.get("PAGE_SHOTS")
        picture = ["--window-size=1280,1500", f"--screenshot={shots}/daemon.png"] if shots else []
        if picture:
            browse(*picture)
        done = browse("--dump-dom")
        dom = done.stdout
        assert '<span id="link" class="up dim">live</span>' in dom, dom[:3000] + done.stderr[-500:]
        for words in ("wdpost-1000-running", "wdpost-1000-waits", "wrong-&lt;img src=x&gt;",
                      "the proof of device 0 with the key of window-2KiB is wrong", "winning-2KiB",
                      "wdpost-1000-running / 0 for"):
            assert words in dom, f"the page does not show: {words}"
        assert "<img" not in dom
        failure = json.loads(get(server, "/status")[2])["failures"][0]
        assert (failure["partition"], failure["phase"]) == (0, "verification"), failure
        server.kill()  # a device that hangs is not waited for


def small_calls():
    """h2load: thousands of small calls at once are all answered; descriptors and threads are as before."""
    if not shutil.which("h2load"):
        raise Skip("h2load is not here")
    with Daemon({"daemon.listen": "127.0.0.1:0"}) as server, d.Client(server.address()) as c:
        check_proof(c.prove(d.window("done")))
        body = os.path.join(d.WORK, "body")
        pid = server.process.pid
        before = None
        for call, message in (("GetStatus", b""), ("AwaitProof", b"\x0a\x04done"), ("GetStatus", b"")):
            with open(body, "wb") as f:
                f.write(b"\0" + len(message).to_bytes(4, "big") + message)
            done = subprocess.run(["h2load", "-n", "4000", "-c", "8", "-m", "16", "-d", body, "-H",
                                   "content-type: application/grpc", "-H", "te: trailers",
                                   f"http://{server.address()}/cuzk.v1.ProvingEngine/{call}"],
                                  stdout=subprocess.PIPE, text=True, check=True).stdout
            assert "4000 succeeded, 0 failed" in done and "status codes: 4000 2xx" in done, done
            print("  ", call, re.search("finished in.*", done).group())
            now = (len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task")))
            before = before or now
        until("descriptors are as before", lambda: len(os.listdir(f"/proc/{pid}/fd")) <= before[0], 10)
        assert now[1] == before[1], (before, now)
        check_proof(c.wait("done"))


d.make_key("window-2KiB")
d.make_key("winning-2KiB")
d.main(metrics, status, page, small_calls)
