"""How a daemon starts, stops, is told to read again, is killed, and what becomes of accepted jobs."""
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "support"))
import daemon as d  # noqa: E402
from daemon import STATUS, Daemon, check_proof, grpc, pb, refused, until  # noqa: E402

CODE = grpc.StatusCode
# One partition at a time: what is behind the first waits.
ONE = {"gpus.gpu_workers_per_device": 1}


def drain_keeps_what_waits():
    """SIGTERM: what runs ends and is told to who waits for it, what waits is done by the next start."""
    with Daemon(ONE, fault="prove:1=slow-1500") as server, server.client() as c:
        running = c.submit(d.window("running"))
        server.await_log('"GPU_START"')
        waiting = c.submit(d.window("waiting", sectors=(1, 0)))
        asked = c.AwaitProof(pb.AwaitProofRequest(job_id=running), future=True)
        waits = c.AwaitProof(pb.AwaitProofRequest(job_id=waiting), future=True)
        until("calls are in", lambda: c.GetStatus(pb.GetStatusRequest()).uptime_seconds >= 0)
        server.signal(signal.SIGTERM)
        server.await_message("STOPPING=1")
        assert server.process.wait(60) == 0, server.text()
        assert asked.result().status == STATUS.COMPLETED
        assert waits.exception().code() == CODE.UNAVAILABLE, waits.exception()
        assert not os.path.exists(server.path)
    with Daemon(folder=server.folder) as server, server.client() as c:
        check_proof(c.wait(waiting), sectors=(1, 0))
        check_proof(c.wait(running))  # kept since before


def second_signal_ends_at_once():
    with Daemon(fault="prove:1=hang") as server, server.client() as c:
        c.submit(d.window("hangs"))
        server.await_log('"GPU_START"')
        worker = server.worker_pids()[-1]
        server.signal(signal.SIGTERM)
        server.await_log("draining")
        begin = time.monotonic()
        server.signal(signal.SIGINT)
        assert server.process.wait(10) == 130, server.text()
        assert time.monotonic() - begin < 5
        until("the worker process is gone", lambda: not os.path.exists(f"/proc/{worker}"), 10)


def drain_has_an_end():
    """What does not end within drain_timeout is given up, and done by the next start."""
    with Daemon({"daemon.drain_timeout": "500ms"}, fault="prove:1=hang") as server, server.client() as c:
        c.submit(d.window("given up"))
        server.await_log('"GPU_START"')
        server.signal(signal.SIGTERM)
        status = server.process.wait(20)
        assert status not in (0, -9, -11), status
        assert server.log("partitions were given up"), server.text()
    with Daemon(folder=server.folder) as server, server.client() as c:
        check_proof(c.wait("given up"))


def hangup_reads_again():
    """SIGHUP: the log level, the token; a configuration that is wrong changes nothing."""
    token = os.path.join(d.WORK, "token")

    def write(text):
        with open(token, "w") as f:
            f.write(text)

    write("first\n")
    with Daemon({"daemon.token_file": token}) as server:
        with server.client(token="first") as old, server.client(token="second") as new:
            old.GetStatus(pb.GetStatusRequest())
            refused(CODE.UNAUTHENTICATED, "token", lambda: new.GetStatus(pb.GetStatusRequest()))
            write("second\n")
            server.signal(signal.SIGHUP)
            server.await_log("configuration was read again")
            new.GetStatus(pb.GetStatusRequest())
            refused(CODE.UNAUTHENTICATED, "token", lambda: old.GetStatus(pb.GetStatusRequest()))

            server.configure(logging__level="loud")
            server.signal(signal.SIGHUP)
            wrong = server.await_log("configuration stays as it was")[0]
            assert "logging.level" in str(wrong), wrong
            new.GetStatus(pb.GetStatusRequest())

            server.configure(logging__level="error")
            server.signal(signal.SIGHUP)
            before = len(server.text())
            until("the level has an effect", lambda: quiet(server), 10)
            assert before <= len(server.text())


def quiet(server):
    """True once a SIGHUP no longer leaves its line (level info) in the log."""
    n = len(server.log("configuration was read again"))
    server.signal(signal.SIGHUP)
    time.sleep(0.3)
    return len(server.log("configuration was read again")) == n


def certificate_is_read_again():
    def make(name):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                        "-nodes", "-days", "1", "-subj", "/CN=" + name, "-addext",
                        "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", cert],
                       check=True, stderr=subprocess.DEVNULL)
        with open(cert, "rb") as f:
            return grpc.ssl_channel_credentials(f.read())

    cert, key = os.path.join(d.WORK, "cert.pem"), os.path.join(d.WORK, "cert.key")
    first = make("first")
    with Daemon({"daemon.listen": "127.0.0.1:0", "daemon.tls_cert": cert, "daemon.tls_key": key}) as server:
        with d.Client(server.address(), credentials=first) as c:
            c.GetStatus(pb.GetStatusRequest())
            second = make("second")
            server.signal(signal.SIGHUP)
            server.await_log("configuration was read again")
            with d.Client(server.address(), credentials=second) as after:
                after.GetStatus(pb.GetStatusRequest())
            with d.Client(server.address(), credentials=first) as old:
                refused(CODE.UNAVAILABLE, "", lambda: old.GetStatus(pb.GetStatusRequest()))
            c.GetStatus(pb.GetStatusRequest())  # a connection that there is goes on


def watchdog_is_kept():
    with Daemon(env={"WATCHDOG_USEC": "600000"}) as server:
        begin = time.monotonic()
        for _ in range(3):
            server.await_message("WATCHDOG=1", 5)
        assert time.monotonic() - begin < 5


def one_at_a_time():
    """A second daemon on the same socket, or on the same store, says who is in the way and changes nothing."""
    with Daemon() as server, server.client() as c:
        for settings, words in (({"daemon.listen": "unix://" + server.path}, "sock"),
                                ({"store.path": server.settings["store.path"]}, "store")):
            second = Daemon(settings, ready=False)
            assert second.process.wait(20) not in (0, -6, -11), second.text()
            told = second.text().splitlines()[-1]
            assert told.startswith("cuzk-daemon: ") and words in told, second.text()
            assert re.search("is in use|has the store open", told), told
            print("  ", told)
        check_proof(c.prove(d.winning()), "winning-2KiB", (0,))


def killed_with_jobs():
    """kill -9 with jobs that run and that wait: after the next start each ends once, with its own proof."""
    orders = [(0, 1), (1, 0)]
    with Daemon(ONE, fault="prove:2=slow-3000") as server, server.client() as c:
        ids = [c.submit(d.window(f"job-{i}", sectors=orders[i % 2])) for i in range(4)]
        ids.append(c.submit(d.winning("winpost-1000-00000000")))
        until("one is done, one runs", lambda: server.log('"DONE"') and len(server.log('"GPU_START"')) > 1)
        workers = server.worker_pids()
        server.process.kill()
        server.process.wait()
        until("the worker process is gone", lambda: not any(os.path.exists(f"/proc/{w}") for w in workers),
              10)
    with Daemon(folder=server.folder) as server, server.client() as c:
        for i, job in enumerate(ids):
            if i < 4:
                check_proof(c.wait(job), sectors=orders[i % 2])
            else:
                check_proof(c.wait(job), "winning-2KiB", (0,))
        jobs = c.ListJobs(pb.ListJobsRequest()).jobs
        assert sorted(j.job_id for j in jobs) == sorted(ids), jobs
        # The one that had ended did not run again.
        assert len(server.log('"DONE"')) == 4, server.log('"DONE"')
        with urllib.request.urlopen(f"http://{server.http}/status") as answer:
            assert b'"queue_depth":0' in answer.read().replace(b" ", b"")


d.make_key("window-2KiB")
d.make_key("winning-2KiB")
d.main(drain_keeps_what_waits, second_signal_ends_at_once, drain_has_an_end, hangup_reads_again,
       certificate_is_read_again, watchdog_is_kept, one_at_a_time, killed_with_jobs)
