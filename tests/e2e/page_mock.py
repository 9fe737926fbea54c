"""A daemon's HTTP port that was made up, for tests of the page: page_mock.py PAGE [ANSWERS].

Serves PAGE at / and /status and /timeline as status_json.md describes them, for a pipeline that has run for
a minute; after ANSWERS answers to /status it says 503. Prints its port. Ends with its standard input."""
import http.server
import json
import sys
import threading
import time
import urllib.parse

page = open(sys.argv[1], "rb").read()
answers = int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 60
EVIL = "wdpost-1000-<img src=x onerror=\"document.title='owned'\">"
start = time.monotonic() - 62
events = []


def simulate():
    made = []

    def put(t, event, **more):
        made.append((t, dict(target="TIMELINE", t_us=int(t * 1e6), event=event, **more)))

    synth, gpu = [0.4] * 3, [7.0, 8.0]
    for d in range(2):
        put(0.1, "SRS_LOAD_START", job=1, device=d, worker=0, detail="porep-32g")
        put(gpu[d], "SRS_LOAD_END", job=1, device=d, worker=0, detail="porep-32g")
    put(0.1, "PCE_LOAD_START", job=1, detail="porep-32g")
    put(1.4, "PCE_LOAD_END", job=1, detail="porep-32g")
    for j in range(1, 40):
        name = dict(job=j, job_id=EVIL if j == 9 else f"porep-1000-{100 + j}", proof_kind="porep-c2")
        put(0.05 + j * 1.5, "QUEUED", value=4, **name)
        for p in range(4):
            w = synth.index(min(synth))
            s, took = synth[w] + 0.02 + (3.5 if j == 6 and p == 0 else 0), 3.3 + (j * 7 + p * 5) % 9 * 0.18
            synth[w] = s + took
            d = gpu.index(min(gpu))
            g = max(gpu[d], synth[w] + 0.01)
            gpu[d] = g + 2.05
            on = dict(partition=p, **name)
            put(s, "SYNTH_START", worker=w, **on)
            put(s + took, "SYNTH_END", worker=w, **on)
            put(s + took, "CHAN_SEND", worker=w, **on)
            put(g, "GPU_PICKUP", worker=0, device=d, **on)
            put(g, "GPU_START", worker=0, device=d, **on)
            put(g + 2.0, "GPU_END", worker=0, device=d, **on)
            put(g + 2.0, "FINISH_START", worker=0, **on)
            put(g + 2.2, "FINISH_END", worker=0, value=1, **on)
            if p == 3:
                put(g + 2.21, "DONE", value=4, **name)
    made.sort(key=lambda m: m[0])
    for seq, (_, e) in enumerate(made):
        e["seq"] = seq
        events.append(e)


simulate()


def timeline(cursor):
    now = int((time.monotonic() - start) * 1e6)
    end = sum(e["t_us"] <= now for e in events)
    at = max(0, end - 2000) if cursor is None else cursor
    some = events[at:min(end, at + 2000)]
    gaps, free = [], [0, 0]
    for e in events[:end]:
        if e["event"] == "GPU_START" and e["t_us"] > free[e["device"]]:
            gaps.append(dict(device=e["device"], start_us=free[e["device"]], end_us=e["t_us"],
                             cause="synthesis" if free[e["device"]] else "loading"))
        elif e["event"] == "GPU_END":
            free[e["device"]] = e["t_us"]
    return dict(epoch_wall_us=1700000000000000, now_us=now, next=at + len(some), end=end, lost=0,
                events=some, gaps=gaps)


def status():
    gib = 1 << 30
    parts = ["done", "done", "finishing", "gpu", "gpu", "synth_done", "synthesizing", "synthesizing",
             "pending", "pending"]
    pipe = lambda job, done, states: dict(
        job_id=job, proof_kind="porep-c2", started_secs_ago=41.5, total_partitions=len(states),
        partitions_done=done, partitions=[dict(index=i, state=s, synth_ms=3400 if s != "pending" else 0,
                                               gpu_ms=2000 if s == "done" else 0) for i, s in enumerate(states)])
    return dict(
        uptime_secs=62 + 86400 * 3, version="0.1.0", draining=False,
        memory=dict(total_bytes=128 * gib, used_bytes=51 * gib, available_bytes=77 * gib),
        synthesis=dict(max_concurrent=3, active=2),
        pipelines=[pipe("porep-1000-120", 2, parts), pipe(EVIL, 1, ["done", "failed", "pending", "pending"])],
        gpu_workers=[dict(worker_id=0, gpu_ordinal=0, state="proving", current_job="porep-1000-120",
                          current_partition=3, busy_secs=1.2),
                     dict(worker_id=1, gpu_ordinal=1, state="idle", current_job=None, current_partition=None,
                          busy_secs=0)],
        allocations=dict(srs=[], pce=[]),
        counters=dict(total_completed=1042, total_failed=1, completed_by_kind={"porep-c2": 1042},
                      failed_by_kind={"porep-c2": 1}, queue_depth=2),
        buffers=dict(synth_in_flight=2, provers_in_flight=1, aux_in_flight=0, shells_in_flight=0, pending_handles=0),
        queue=[dict(job_id="winpost-1000-0a1b2c3d", proof_kind="winning-post", priority="critical", state="queued",
                    partitions_total=1, partitions_done=0, waiting_ms=120),
               dict(job_id="snap-1000-77", proof_kind="snap-update", priority="normal", state="queued",
                    partitions_total=16, partitions_done=0, waiting_ms=73500)],
        residency=[dict(circuit_id="porep-32g", tier="hot", bytes=47 * gib, ref_count=2, device=0),
                   dict(circuit_id="porep-32g", tier="hot", bytes=47 * gib, ref_count=1, device=1),
                   dict(circuit_id="wpost-32g", tier="warm", bytes=61 * gib, ref_count=0, device=-1)],
        budgets=[dict(name="host", total=128 * gib, used=51 * gib, waiting=3 * gib),
                 dict(name="pinned", total=16 * gib, used=9 * gib, waiting=0),
                 dict(name="device 0", total=139 * gib, used=101 * gib, waiting=0)],
        utilisation=dict(gpu=[dict(device=0, busy_1m=0.8123, busy_10m=0.7741, idle_1m={"loading": 0.12}),
                              dict(device=1, busy_1m=0.7702, busy_10m=0.7001, idle_1m={"loading": 0.13})],
                         verdict="synthesis-bound: with work at hand the devices stood still 19.5 % of the time"),
        failures=[dict(job_id=EVIL, partition=1, phase="finish", reason="the proof is wrong", secs_ago=312)],
        devices=[dict(device=d, name="NVIDIA H200", state="ready", memory_total_bytes=139 * gib,
                      memory_used_bytes=101 * gib, partitions=5210 + d, wrong_proofs=d, errors=0) for d in range(2)])


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global answers
        url = urllib.parse.urlparse(self.path)
        code, kind = 200, "application/json"
        if url.path == "/":
            body, kind = page, "text/html; charset=utf-8"
        elif url.path == "/status":
            answers -= 1
            code = 200 if answers >= 0 else 503
            body = json.dumps(status()).encode()
        elif url.path == "/timeline":
            cursor = urllib.parse.parse_qs(url.query).get("cursor")
            body = json.dumps(timeline(int(cursor[0]) if cursor else None)).encode()
        else:
            code, body = 404, b"{}"
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
