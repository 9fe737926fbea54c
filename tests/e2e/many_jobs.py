"""The control plane with ten thousand finished jobs in the store takes as long as with none, and how many
jobs wait is what the jobs' states say, whatever became of those before."""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "support"))
import daemon as d  # noqa: E402
from daemon import STATUS, Daemon, grpc, pb  # noqa: E402

FINISHED = int(os.environ.get("MANY_JOBS", "10000"))
SETTINGS = {"gpus.gpu_workers_per_device": 1, "memory.total_budget": "2GiB", "logging.level": "warn"}
# Keeps the device and synthesis busy, so that what comes after it waits: 40 partitions.
LONG = (0, 1) * 40
ROUNDS = 30


def timed(fn):
    """The least of a call in milliseconds: what else runs on the machine makes most of them longer."""
    times = []
    for i in range(ROUNDS):
        begin = time.perf_counter()
        fn(i)
        times.append((time.perf_counter() - begin) * 1000)
    return min(times)


def cancel(c, job):
    return c.CancelProof(pb.CancelProofRequest(job_id=job))


def measure(c, round_name, token=""):
    """Calls of each kind; nothing that they submit is proved."""
    c.submit(d.window("long-" + round_name, LONG, priority=d.HIGH))
    def submit(i): return c.submit(d.window(f"{round_name}-{i}", priority=d.LOW))
    ms = {"SubmitProof": timed(submit),
          "SubmitProof of a job that is there": timed(submit),
          "ListJobs, first page": timed(lambda _: c.ListJobs(pb.ListJobsRequest(limit=50))),
          "ListJobs, last page": timed(lambda _: c.ListJobs(pb.ListJobsRequest(limit=50, page_token=token))),
          "ListJobs, queued": timed(lambda _: c.ListJobs(pb.ListJobsRequest(limit=50, state="queued"))),
          "AwaitProof of a finished job": timed(lambda _: c.wait("done")),
          "GetStatus": timed(lambda _: c.GetStatus(pb.GetStatusRequest())),
          "GetMetrics": timed(lambda _: c.GetMetrics(pb.GetMetricsRequest())),
          "CancelProof": timed(lambda i: cancel(c, f"{round_name}-{i}"))}
    cancel(c, "long-" + round_name)
    return ms


def ten_thousand_finished_jobs_cost_nothing():
    server = Daemon(SETTINGS)
    with server.client() as c:
        c.submit(d.window("done"))
        proof = c.wait("done").proof
        few = measure(c, "few")
    server.stop()
    begin = time.monotonic()
    subprocess.run([os.path.join(d.BIN, "fill_store"), server.settings["store.path"], "done", str(FINISHED)],
                   check=True)
    print(f"{FINISHED} jobs filled in {time.monotonic() - begin:.1f} s", flush=True)
    begin = time.monotonic()
    with Daemon(SETTINGS, folder=server.folder) as server, server.client() as c:
        print(f"ready after {time.monotonic() - begin:.2f} s", flush=True)
        last = ""
        for page in pages(c):
            last = page.next_page_token or last
        assert sum(len(page.jobs) for page in pages(c, "completed")) == FINISHED + 1
        many = measure(c, "many", last)
        for what, ms in many.items():
            print(f"{what}: {few[what]:.2f} ms with few, {ms:.2f} ms with {FINISHED}", flush=True)
        for what, ms in many.items():
            assert ms <= 3 * few[what] + 5, what
        old = c.wait(f"done.{FINISHED // 2}")
        assert old.status == STATUS.COMPLETED and old.proof == proof, old
        d.check_proof(c.prove(d.window("new")))
        # The page of all that are queued is not the page of all.
        assert not c.ListJobs(pb.ListJobsRequest(state="queued")).jobs


def pages(c, state=""):
    token = ""
    while True:
        page = c.ListJobs(pb.ListJobsRequest(state=state, limit=1000, page_token=token))
        yield page
        token = page.next_page_token
        if not token:
            return


def depth(c):
    """Jobs that have not ended, as the status and as the list has them. (These are three answers: a job
    that begins between two of them may be in both lists, or in none.)"""
    counted = sum(q.pending + q.in_progress for q in c.GetStatus(pb.GetStatusRequest()).queues)
    listed = [job for state in ("queued", "running") for page in pages(c, state) for job in page.jobs]
    return counted, len(listed)


def is_deep(c, n):
    d.until(f"{n} jobs, not {depth(c)}", lambda: depth(c) == (n, n), 10)


def the_queue_is_as_deep_as_its_jobs():
    settings = {**SETTINGS, "daemon.max_queued_jobs": 6}
    full = grpc.StatusCode.RESOURCE_EXHAUSTED
    server = Daemon(settings)
    for life in range(3):
        with server.client() as c:
            c.submit(d.window("long", LONG, priority=d.HIGH))
            if life:
                cancel(c, f"kept-{life - 1}")
            for turn in range(5):
                names = [f"{life}-{turn}-{i}" for i in range(5)]
                for name in names:
                    c.submit(d.window(name, priority=d.LOW))
                d.refused(full, "jobs are waiting or running", lambda: c.submit(d.window("more")))
                is_deep(c, 6)
                for name in names[turn % 2:]:
                    cancel(c, name)
                is_deep(c, 1 + turn % 2)
                for name in names:
                    cancel(c, name)
            c.submit(d.window(f"kept-{life}", priority=d.LOW))
            is_deep(c, 2)
        server.kill()
        server = Daemon(settings, folder=server.folder)
        with server.client() as c:
            is_deep(c, 2)
    with server.client() as c:
        cancel(c, "long")
        d.check_proof(c.wait("kept-2"))
        is_deep(c, 0)
    server.stop()


d.make_key("window-2KiB")
d.main(ten_thousand_finished_jobs_cost_nothing, the_queue_is_as_deep_as_its_jobs)
