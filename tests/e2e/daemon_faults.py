"""Devices that fail: a wrong proof never leaves, what fails is tried again, the rest goes on."""
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "support"))
import daemon as d  # noqa: E402
from daemon import STATUS, Daemon, check_proof, pb, until  # noqa: E402


def retries(client, job):
    return [e for e in client.events(job) if e.event == "RETRY"]


def plan(rules):
    """The rules, counted over all processes of one test."""
    plan.number = getattr(plan, "number", 0) + 1
    return f"state={os.path.join(d.WORK, 'count')}{plan.number},{rules}"


def tried_again(action, words, shared_fate=False, **settings):
    """The first proof fails by plan; it is proved again, and another job is not disturbed, or where a process
    ends tried again too."""
    with Daemon({k.replace("__", "."): v for k, v in settings.items()},
                fault=plan("prove:1=" + action)) as server, server.client() as c:
        job = c.submit(d.window("fails once"))
        server.await_log('"GPU_START"')
        other = c.submit(d.window("goes on", sectors=(1, 0)))
        check_proof(c.wait(job))
        check_proof(c.wait(other), sectors=(1, 0))
        told = retries(c, job)
        assert len(told) == 1 and told[0].value == 2 and words in told[0].detail, told
        assert len(retries(c, other)) <= shared_fate
        text = c.GetMetrics(pb.GetMetricsRequest()).prometheus_text
        assert c.GetStatus(pb.GetStatusRequest()).total_proofs_failed == 0
        return text, server.worker_pids()


def wrong_proof():
    text, _ = tried_again("wrong", "verification: ")
    line = [m for m in text.splitlines() if "wrong" in m and m.startswith("cuzk_") and m.endswith(" 1")]
    assert line, [m for m in text.splitlines() if "wrong" in m]


def error():
    tried_again("error", "proving: ")


def out_of_memory():
    tried_again("memory", "proving: ")


def hang():
    _, workers = tried_again("hang", "the deadline passed", True, gpus__partition_timeout="8s")
    assert len(workers) == 2, workers


def crash():
    _, workers = tried_again("segv", "the worker process is gone", True)
    assert len(workers) == 2, workers


def worker_killed():
    """kill -9 of the worker process while it proves costs one retry of what it had in work."""
    with Daemon({"gpus.gpu_workers_per_device": 1}, fault=plan("prove:1=slow-4000")) as server, \
            server.client() as c:
        job = c.submit(d.window("was in work"))
        server.await_log('"GPU_START"')
        other = c.submit(d.window("waited", sectors=(1, 0)))
        os.kill(server.worker_pids()[0], signal.SIGKILL)
        until("another worker process", lambda: len(server.worker_pids()) == 2)
        check_proof(c.wait(job))
        check_proof(c.wait(other), sectors=(1, 0))
        assert len(retries(c, job)) == 1 and not retries(c, other)
        gone = [line for line in server.log("is gone") if line.get("msg") == "worker process is gone"]
        assert len(gone) == 1 and "signal 9" in gone[0]["reason"], gone
        events = [e for e in c.events() if e.event.startswith("WORKER")]
        assert [(e.event, e.value) for e in events] == [
            ("WORKER_START", server.worker_pids()[0]), ("WORKER_DEATH", server.worker_pids()[0]),
            ("WORKER_START", server.worker_pids()[1])], events


def poison():
    """A partition that brings its worker process down whenever it is tried fails alone: whoever shared the
    process with it is tried once more and no more than once."""
    with Daemon(fault="prove@winning-2KiB=segv") as server, server.client() as c:
        bad = c.submit(d.winning("poison"))
        good = [c.submit(d.window(f"good-{i}", sectors=(i % 2, 1 - i % 2))) for i in range(4)]
        result = c.wait(bad)
        assert result.status == STATUS.FAILED and "signal 11" in result.error_message, result
        for i, job in enumerate(good):
            check_proof(c.wait(job), sectors=(i % 2, 1 - i % 2))
            assert len(retries(c, job)) <= 1, retries(c, job)
        assert len(retries(c, bad)) == 3 and len(server.worker_pids()) <= 5, server.worker_pids()


def never_right():
    """A device that only gives wrong proofs: the job fails with the partition, the phase and the reason;
    no proof leaves."""
    with Daemon({"scheduler.partition_retries": 1, "gpus.quarantine_after": 0},
                fault="prove@window-2KiB=wrong") as server, server.client() as c:
        result = c.prove(d.window("never right"))
        assert result.status == STATUS.FAILED and not result.proof, result
        assert "partition 0" in result.error_message and "\n" not in result.error_message, result
        print("  ", result.error_message)
        check_proof(c.prove(d.winning()), "winning-2KiB", (0,))
        state = list(c.WatchJob(pb.WatchJobRequest(job_id="never right")))[-1]
        assert state.state == "failed" and state.error_message == result.error_message, state
        assert c.GetStatus(pb.GetStatusRequest()).total_proofs_failed == 1


d.make_key("window-2KiB")
d.make_key("winning-2KiB")
d.main(wrong_proof, error, out_of_memory, hang, crash, worker_killed, poison, never_right)
