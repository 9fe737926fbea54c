"""Every RPC of the published contract, with grpcio, over every transport, in Curio's shapes."""
import json
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "support"))
import daemon as d  # noqa: E402
from daemon import STATUS, Client, Daemon, Skip, check_proof, grpc, pb, refused, until  # noqa: E402

CODE = grpc.StatusCode


def every_rpc():
    with Daemon() as server, server.client() as c:
        # wdpost-<miner>-<partition>-[%d of the randomness], as Curio writes it
        wdpost = f"wdpost-1000-0-[{' '.join(str(b) for b in d.RANDOMNESS)}]"
        submitted = c.SubmitProof(d.window(wdpost))
        assert submitted.job_id == wdpost and submitted.queue_position == 0, submitted
        states = [s for s in c.WatchJob(pb.WatchJobRequest(job_id=wdpost))]
        assert states[-1].state == "completed" and states[-1].partitions_done == 1, states
        assert all(s.state in ("queued", "running", "completed") for s in states), states
        result = c.wait(wdpost)
        check_proof(result)
        assert result.total_ms >= result.synthesis_ms and result.gpu_compute_ms > 0, result

        winpost = "winpost-1000-0a1b2c3d"
        check_proof(c.prove(d.winning(winpost)), "winning-2KiB", (0,))

        # The same request again joins the job that there is; another of the same name is refused.
        again = c.prove(d.window(wdpost))
        assert again.job_id == wdpost and again.proof == result.proof
        refused(CODE.ALREADY_EXISTS, "names another proof",
                lambda: c.SubmitProof(d.window(wdpost, sectors=(1, 0))))

        # An id of the daemon's own.
        own = c.submit(d.window())
        assert len(own) >= 16, own
        check_proof(c.wait(own))

        jobs = c.ListJobs(pb.ListJobsRequest()).jobs
        assert [j.job_id for j in jobs] == [own, winpost, wdpost], jobs  # newest first
        assert all(j.state == "completed" and j.created_unix_ms <= j.finished_unix_ms for j in jobs), jobs
        page = c.ListJobs(pb.ListJobsRequest(limit=2))
        rest = c.ListJobs(pb.ListJobsRequest(limit=2, page_token=page.next_page_token))
        assert [j.job_id for j in page.jobs] + [j.job_id for j in rest.jobs] == [j.job_id for j in jobs]
        assert not rest.next_page_token and not c.ListJobs(pb.ListJobsRequest(state="failed")).jobs

        events = c.events(wdpost)
        assert {e.job_id for e in events} == {wdpost}, events
        kinds = [e.event for e in events]
        order = ["QUEUED", "SYNTH_START", "SYNTH_END", "CHAN_SEND", "GPU_PICKUP", "GPU_START", "GPU_END",
                 "FINISH_START", "FINISH_END", "DONE"]
        assert [k for k in kinds if k in order] == order, kinds
        first = c.GetTimeline(pb.GetTimelineRequest(max=5))
        more = c.GetTimeline(pb.GetTimelineRequest(cursor=first.next_cursor))
        assert len(first.events) == 5 and more.events[0].seq == first.events[-1].seq + 1

        status = c.GetStatus(pb.GetStatusRequest())
        assert status.total_proofs_completed == 3 and status.total_proofs_failed == 0, status
        assert {s.circuit_id for s in status.loaded_srs} == {"window-2KiB", "winning-2KiB"}, status
        assert {q.proof_kind for q in status.queues} == set(d.KINDS), status
        assert len(status.gpus) == 1 and status.gpus[0].name, status

        text = c.GetMetrics(pb.GetMetricsRequest()).prometheus_text
        assert 'cuzk_' in text and text.endswith("\n"), text[:200]

        evicted = c.EvictSRS(pb.EvictSrsRequest(circuit_id="window-2KiB"))
        assert evicted.was_loaded and evicted.freed_bytes > 1 << 20, evicted
        assert not c.EvictSRS(pb.EvictSrsRequest(circuit_id="window-2KiB")).was_loaded
        loaded = c.PreloadSRS(pb.PreloadSrsRequest(circuit_id="window-2KiB"))
        assert not loaded.already_loaded, loaded
        assert c.PreloadSRS(pb.PreloadSrsRequest(circuit_id="window-2KiB")).already_loaded


def awaiting_and_cancelling():
    with Daemon({"gpus.gpu_workers_per_device": 1}, fault="prove:1=slow-1500,prove:2=slow-3000") as server, \
            server.client() as c:
        running = c.submit(d.window("running"))
        server.await_log('"GPU_START"')
        waiting = c.submit(d.window("waiting", sectors=(1, 0)))
        late = c.wait(running, timeout_ms=50)
        assert late.status == STATUS.TIMEOUT and "timeout_ms" in late.error_message, late
        # A client that goes away changes nothing for the job.
        refused(CODE.DEADLINE_EXCEEDED, "", lambda: c.wait(running, timeout=0.1))

        assert c.CancelProof(pb.CancelProofRequest(job_id=waiting)).was_running
        assert c.wait(waiting).status == STATUS.CANCELLED
        assert c.wait(running, timeout_ms=20000).status == STATUS.COMPLETED
        assert not c.CancelProof(pb.CancelProofRequest(job_id=running)).was_running

        # One that is on the device is cancelled at once for who waits for it.
        on_device = c.submit(d.window("on the device", sectors=(0, 0)))
        until("it is on the device", lambda: len(server.log('"GPU_START"')) == 2)
        waits = c.AwaitProof(pb.AwaitProofRequest(job_id=on_device), future=True)
        begin = time.monotonic()
        assert c.CancelProof(pb.CancelProofRequest(job_id=on_device)).was_running
        assert waits.result().status == STATUS.CANCELLED and time.monotonic() - begin < 2
        # A cancelled job is not a failed one: it can be asked for again.
        check_proof(c.prove(d.window("waiting", sectors=(1, 0))), sectors=(1, 0))
        assert c.GetStatus(pb.GetStatusRequest()).total_proofs_failed == 0


def many_of_one_kind():
    """Jobs of one kind at the same moment, from many callers: each gets a proof of its own request."""
    with Daemon() as server, server.client() as c:
        futures = [(c.Prove(pb.ProveRequest(submit=d.window(f"many-{i}", sectors=(i % 2, 1 - i % 2))),
                            future=True), (i % 2, 1 - i % 2)) for i in range(6)]
        futures += [(c.Prove(pb.ProveRequest(submit=d.window("same")), future=True), (0, 1))]
        futures += [(c.Prove(pb.ProveRequest(submit=d.window("same")), future=True), (0, 1))]
        for future, sectors in futures:
            check_proof(future.result().result, sectors=sectors)
        assert len(c.ListJobs(pb.ListJobsRequest()).jobs) == 7


def health():
    try:
        from health.v1 import health_pb2
    except ImportError:
        raise Skip("the description of grpc.health.v1 is not here") from None
    states, ask = health_pb2.HealthCheckResponse, health_pb2.HealthCheckRequest
    with Daemon(fault="prove=slow-1500") as server, server.client() as c:
        check = c.channel.unary_unary("/grpc.health.v1.Health/Check", ask.SerializeToString,
                                      states.FromString)
        watch = c.channel.unary_stream("/grpc.health.v1.Health/Watch", ask.SerializeToString,
                                       states.FromString)
        for name in ("", "cuzk.v1.ProvingEngine"):
            assert check(ask(service=name)).status == states.SERVING
        refused(CODE.NOT_FOUND, "", lambda: check(ask(service="cuzk.v2.None")))
        stream = watch(ask(service="cuzk.v1.ProvingEngine"))
        assert next(stream).status == states.SERVING
        c.submit(d.window("while draining"))
        server.await_log('"GPU_START"')
        server.signal(15)
        assert next(stream).status == states.NOT_SERVING
        assert server.process.wait(30) == 0


def reflection():
    try:
        from reflection.v1alpha import reflection_pb2
    except ImportError:
        raise Skip("the description of grpc.reflection is not here") from None
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    ask = reflection_pb2.ServerReflectionRequest
    with Daemon() as server, server.client() as c:
        for version in ("v1alpha", "v1"):
            info = c.channel.stream_stream(
                f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
                ask.SerializeToString, reflection_pb2.ServerReflectionResponse.FromString)
            listed, file = info(iter([ask(list_services="*"),
                                      ask(file_containing_symbol="cuzk.v1.ProvingEngine")]))
            names = {s.name for s in listed.list_services_response.service}
            assert {"cuzk.v1.ProvingEngine", "grpc.health.v1.Health"} <= names, names
        pool = descriptor_pool.DescriptorPool()
        for blob in file.file_descriptor_response.file_descriptor_proto:
            pool.Add(descriptor_pb2.FileDescriptorProto.FromString(blob))
        # A client that knows nothing but what reflection says.
        methods = pool.FindServiceByName("cuzk.v1.ProvingEngine").methods_by_name
        assert set(methods) == {m.name for m in pb.DESCRIPTOR.services_by_name["ProvingEngine"].methods}
        make = message_factory.MessageFactory(pool).GetPrototype
        call = c.channel.unary_unary("/cuzk.v1.ProvingEngine/GetStatus",
                                     make(methods["GetStatus"].input_type).SerializeToString,
                                     make(methods["GetStatus"].output_type).FromString)
        assert call(make(methods["GetStatus"].input_type)()).total_proofs_failed == 0


def porep_requests():
    """PoRep as Curio sends it; the key of 32 GiB sectors is not here, and nothing else minds."""
    with Daemon() as server, server.client() as c:
        small = pb.SubmitProofRequest(
            request_id="porep-1000-7", proof_kind=pb.POREP_SEAL_COMMIT, sector_size=2048, registered_proof=5,
            priority=d.NORMAL, sector_number=0, miner_id=1000,
            vanilla_proof=d.porep_wrapper("c1-2KiB.phase1.json", 0, 2048))
        before = c.submit(d.window("beside"))
        refused(CODE.NOT_FOUND, ".params", lambda: c.SubmitProof(small), "PoRep without a key")
        packed = os.path.join(d.SHARED, "c1-32GiB.wrapper.json.zst")
        if os.path.exists(packed) and shutil.which("zstd"):
            wrapper = subprocess.run(["zstd", "-dc", packed], stdout=subprocess.PIPE, check=True).stdout
            assert len(wrapper) > 50_000_000 and json.loads(wrapper)["SectorSize"] == 32 << 30
            big = pb.SubmitProofRequest(
                request_id="porep-1000-8", proof_kind=pb.POREP_SEAL_COMMIT, sector_size=32 << 30,
                registered_proof=8, priority=d.NORMAL, sector_number=json.loads(wrapper)["SectorNum"],
                miner_id=1000, vanilla_proof=wrapper)
            begin = time.monotonic()
            refused(CODE.NOT_FOUND, "82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820.params",
                    lambda: c.SubmitProof(big), "PoRep of 32 GiB without a key")
            print(f"   {len(wrapper)} bytes were refused within {time.monotonic() - begin:.1f} s")
        else:
            print("   the wrapper of 32 GiB is not here")
        check_proof(c.wait(before))
        assert [j.job_id for j in c.ListJobs(pb.ListJobsRequest()).jobs] == ["beside"]


def large_keys():
    """PoRep and update of 2 KiB sectors, as Curio sends them. Their keys take a gigabyte and a minute to
    make: CUZK_TEST_KEYS is a folder that has them (`make demo` leaves one in ~/.cache/cuzk)."""
    folder = os.environ.get("CUZK_TEST_KEYS", "")
    names = os.listdir(folder) if folder else []
    kinds = {
        "032d3138": ("porep-2KiB", "c1-2KiB.phase1.json", pb.SubmitProofRequest(
            request_id="porep-1000-7", proof_kind=pb.POREP_SEAL_COMMIT, sector_size=2048, registered_proof=5,
            priority=d.NORMAL, miner_id=1000, vanilla_proof=d.porep_wrapper("c1-2KiB.phase1.json", 0, 2048))),
        "fb9e095b": ("update-2KiB", "update-2KiB.partition0.bincode", pb.SubmitProofRequest(
            request_id="snap-1000-7", proof_kind=pb.SNAP_DEALS_UPDATE, sector_size=2048, registered_proof=0,
            priority=d.NORMAL, sector_number=7, miner_id=1000,
            vanilla_proofs=[d.vector("update-2KiB.partition0.bincode")]))}
    there = [k for digest, k in kinds.items() if any(digest in n and n.endswith(".params") for n in names)]
    if not there:
        raise Skip("CUZK_TEST_KEYS is no folder with their keys")
    with Daemon({"srs.param_cache": folder}) as server, server.client() as c:
        for circuit, source, request in there:
            result = c.prove(request, timeout=500)
            assert result.status == STATUS.COMPLETED, result
            with open(os.path.join(d.WORK, "large"), "wb") as f:
                f.write(result.proof)
            subprocess.run([os.path.join(d.BIN, "cuzk"), "verify", "--circuit", circuit, "--input",
                            os.path.join(d.VECTORS, source), "--vk", folder, "--proof",
                            os.path.join(d.WORK, "large")], check=True, stdout=subprocess.DEVNULL,
                           env={**os.environ, "CUZK_CACHE": d.KEYS})
            print(f"   {circuit}: {result.total_ms / 1000:.1f} s, {len(result.proof)} bytes")


def sign(name):
    """A certificate of the test's authority."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, cwd=d.WORK, stderr=subprocess.DEVNULL)
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    if not os.path.exists(os.path.join(d.WORK, "ca.pem")):
        openssl("req", "-x509", *key, "-days", "1", "-subj", "/CN=authority", "-keyout", "ca.key", "-out",
                "ca.pem")
        with open(os.path.join(d.WORK, "ext"), "w") as f:
            f.write("subjectAltName=DNS:localhost,IP:127.0.0.1")
    openssl("req", "-new", *key, "-subj", "/CN=" + name, "-keyout", name + ".key", "-out", name + ".csr")
    openssl("x509", "-req", "-in", name + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-days", "1", "-out", name + ".pem", "-extfile", "ext")


def read(name):
    with open(os.path.join(d.WORK, name), "rb") as f:
        return f.read()


def transports():
    """TCP loopback beside the unix socket; TLS; mutual TLS; a token. A proof over each."""
    if not shutil.which("openssl"):
        raise Skip("openssl is not here")
    sign("localhost")
    sign("alice")
    tls = {"daemon.listen": "127.0.0.1:0", "daemon.tls_cert": os.path.join(d.WORK, "localhost.pem"),
           "daemon.tls_key": os.path.join(d.WORK, "localhost.key")}
    trust = grpc.ssl_channel_credentials(read("ca.pem"))
    mine = grpc.ssl_channel_credentials(read("ca.pem"), read("alice.key"), read("alice.pem"))
    status = pb.GetStatusRequest()

    def proves(target, **options):
        with Client(target, **options) as c:
            check_proof(c.prove(d.winning()), "winning-2KiB", (0,))

    with Daemon() as server:
        server.configure(daemon__listen=["unix://" + server.path, "127.0.0.1:0"])
        server.stop()
        with Daemon(server.settings, folder=server.folder) as both:
            bound = [line["msg"].split()[-1] for line in both.log("ready, serving on")]
            assert bound[0].endswith(both.path) and bound[1].startswith("127.0.0.1:"), bound
            proves("unix://" + both.path)
            proves(bound[1])
    with Daemon(tls) as server:
        proves(server.address(), credentials=trust)
        with Client(server.address()) as plain:
            refused(CODE.UNAVAILABLE, "", lambda: plain.GetStatus(status), "no TLS")
    token = os.path.join(d.WORK, "token")
    with open(token, "w") as f:
        f.write("s3cret\n")
    with Daemon({**tls, "daemon.tls_client_ca": os.path.join(d.WORK, "ca.pem"),
                 "daemon.token_file": token}) as server:
        proves(server.address(), credentials=mine, token="s3cret")
        with Client(server.address(), credentials=trust, token="s3cret") as c:
            refused(CODE.UNAVAILABLE, "", lambda: c.GetStatus(status), "no certificate of a client")
        with Client(server.address(), credentials=mine, token="guess") as c:
            refused(CODE.UNAUTHENTICATED, "token", lambda: c.GetStatus(status), "another token")
    # Without protection only loopback is bound, by either port; a token is one line of text.
    with open(token, "w") as f:
        f.write("two\nlines\n")
    for settings, status, words in (({"daemon.listen": "0.0.0.0:0"}, 2, "allow_insecure"),
                                    ({"daemon.status_listen": "0.0.0.0:0"}, 2, "allow_insecure"),
                                    ({"daemon.status_listen": "nowhere"}, (2, 3), "status_listen"),
                                    ({"daemon.token_file": token}, 3, "expected a token")):
        server = Daemon(settings, ready=False)
        ended = server.process.wait(20)
        assert ended == status or (isinstance(status, tuple) and ended in status), (ended, server.text())
        assert words in server.text(), server.text()


d.make_key("window-2KiB")
d.make_key("winning-2KiB")
d.main(every_rpc, awaiting_and_cancelling, many_of_one_kind, health, reflection, porep_requests, large_keys,
       transports)
