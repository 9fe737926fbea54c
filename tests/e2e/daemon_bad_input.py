"""Requests that are wrong: the right status and one clear sentence each, and nothing else is disturbed."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "support"))
import daemon as d  # noqa: E402
from daemon import Daemon, check_proof, grpc, pb, porep_wrapper, refused  # noqa: E402

CODE = grpc.StatusCode
BAD = CODE.INVALID_ARGUMENT
SECTOR = d.vector("window-2KiB.sector0.bincode")
PARTITION = d.vector("update-2KiB.partition0.bincode")


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def update(**fields):
    return pb.SubmitProofRequest(**{"proof_kind": pb.SNAP_DEALS_UPDATE, "sector_size": 2048,
                                    "vanilla_proofs": [PARTITION], **fields})


def porep(**fields):
    return pb.SubmitProofRequest(**{"proof_kind": pb.POREP_SEAL_COMMIT, "sector_size": 2048,
                                    "registered_proof": 5,
                                    "vanilla_proof": porep_wrapper("c1-2KiB.phase1.json", 0, 2048), **fields})


# what it is, request, words of the refusal
REQUESTS = [
    ("nothing", pb.SubmitProofRequest(), "proof_kind"),
    ("an unknown kind", d.window(proof_kind=9), "proof_kind"),
    ("a size that no sector has", d.window(sector_size=4095), "no sector has 4095 bytes"),
    ("another size", d.window(sector_size=8 << 20, registered_proof=0), "vanilla_proofs[0]"),
    ("a registered proof of another size", d.window(registered_proof=13), "registered_proof"),
    ("a registered proof of another kind", d.window(registered_proof=0, proof_kind=pb.WINNING_POST), "vanilla"),
    ("an unknown registered proof", d.window(registered_proof=99), "registered_proof"),
    ("no randomness", d.window(randomness=b""), "randomness: expected 32 bytes, found 0"),
    ("short randomness", d.window(randomness=b"1" * 31), "randomness: expected 32 bytes, found 31"),
    ("long randomness", d.window(randomness=b"1" * 33), "randomness: expected 32 bytes, found 33"),
    ("no vanilla proof", d.window(vanilla_proofs=[]), "vanilla_proofs: there is none"),
    ("an empty vanilla proof", d.window(vanilla_proofs=[SECTOR, b""]), "vanilla_proofs[1]: is empty"),
    ("both fields", d.window(vanilla_proof=SECTOR), "both are given"),
    ("a vanilla proof that is cut", d.window(vanilla_proofs=[SECTOR[:-1]]), "vanilla_proofs[0]"),
    ("a vanilla proof with more behind it", d.window(vanilla_proofs=[SECTOR, SECTOR + b"\0"]),
     "vanilla_proofs[1]"),
    ("a leaf that is not under its root", d.window(vanilla_proofs=[flipped(SECTOR, len(SECTOR) // 2)]),
     "vanilla_proofs[0]"),
    ("noise", d.window(vanilla_proofs=[os.urandom(len(SECTOR))]), "vanilla_proofs[0]"),
    ("two sectors for a winning PoSt", d.winning(vanilla_proofs=[SECTOR, SECTOR]), "has one, found 2"),
    ("an id that is too long", d.window("x" * 5000), "request_id"),
    ("an id that is not text", None, "request_id"),
    ("an update with a partition too many", update(vanilla_proofs=[PARTITION] * 2), "found 2"),
    ("an update's commitment that is cut", update(comm_r_old=b"1" * 31), "comm_r_old: expected 32 bytes"),
    ("an update's commitment of another sector", update(comm_r_new=b"\1" * 32), "comm_r_new"),
    ("an update that is cut", update(vanilla_proofs=[PARTITION[:1000]]), "vanilla_proofs[0]"),
    ("a wrapper that is no JSON", porep(vanilla_proof=b"{\"SectorNum\":"), "vanilla_proof"),
    ("a wrapper without its member", porep(vanilla_proof=b"{\"SectorNum\":0,\"SectorSize\":2048}"),
     "Phase1Out"),
    ("a wrapper that is not base64",
     porep(vanilla_proof=b"{\"SectorNum\":0,\"Phase1Out\":\"%%%\",\"SectorSize\":2048}"), "Phase1Out"),
    ("a wrapper of another size", porep(vanilla_proof=porep_wrapper("c1-2KiB.phase1.json", 0, 8 << 20)),
     "SectorSize"),
]


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def requests():
    with Daemon() as server, server.client() as c:
        told, wrong = [], []
        for what, request, words in REQUESTS:
            # Python's own protobuf refuses to make an id that is no text.
            message = (request.SerializeToString() if request is not None
                       else b"\x0a\x02\xff\xfe" + d.window().SerializeToString())
            try:
                told.append((what, refused(BAD, words, lambda: c.raw("SubmitProof", message), what)))
            except AssertionError as e:
                wrong.append(str(e))
        assert not wrong, "\n".join(wrong)
        # What only a witness shows is a proof that fails, at once and for good.
        result = c.prove(d.window("other randomness", randomness=b"1" * 32))
        assert result.status == pb.AwaitProofResponse.FAILED and not result.proof, result
        assert "challenge 0: the opened leaf is not the challenged one" in result.error_message, result
        assert not [e for e in c.events("other randomness") if e.event == "RETRY"]
        # Prove says the same.
        refused(BAD, "submit: missing", lambda: c.Prove(pb.ProveRequest()))
        refused(BAD, "randomness", lambda: c.prove(d.window(randomness=b"1")))
        for what, words in told:
            print(f"   {what}: {words}")
        assert [j.job_id for j in c.ListJobs(pb.ListJobsRequest()).jobs] == ["other randomness"]
        check_proof(c.prove(d.window()))


def unknown_names():
    with Daemon() as server, server.client() as c:
        job = "no-such-job"
        refused(CODE.NOT_FOUND, "job not found: no-such-job", lambda: c.wait(job))
        refused(CODE.NOT_FOUND, "no-such-job", lambda: c.CancelProof(pb.CancelProofRequest(job_id=job)))
        refused(CODE.NOT_FOUND, "no-such-job", lambda: list(c.WatchJob(pb.WatchJobRequest(job_id=job))))
        refused(CODE.NOT_FOUND, "no-such-job", lambda: c.events(job))
        refused(CODE.NOT_FOUND, "job not found", lambda: c.wait(""))
        for name in ("porep-31g", "", "x" * 1000, "porep-32g/../x"):
            refused(BAD, "circuit", lambda: c.PreloadSRS(pb.PreloadSrsRequest(circuit_id=name)), name)
            refused(BAD, "circuit", lambda: c.EvictSRS(pb.EvictSrsRequest(circuit_id=name)), name)
        refused(CODE.NOT_FOUND, ".params", lambda: c.PreloadSRS(pb.PreloadSrsRequest(circuit_id="wpost-32g")))
        refused(BAD, "state", lambda: c.ListJobs(pb.ListJobsRequest(state="sleeping")))
        refused(BAD, "page_token", lambda: c.ListJobs(pb.ListJobsRequest(page_token="x")))
        refused(CODE.UNIMPLEMENTED, "", lambda: c.raw("NoSuchCall", b""))
        # A key that is not there: the file is named, and the job is not taken.
        big = pb.SubmitProofRequest(proof_kind=pb.WINDOW_POST_PARTITION, sector_size=32 << 30,
                                    registered_proof=13, randomness=d.RANDOMNESS, miner_id=1000,
                                    vanilla_proofs=[d.vector("window-32GiB.sector0.bincode"),
                                                    d.vector("window-32GiB.sector1.bincode")])
        refused(CODE.NOT_FOUND, "0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc.params",
                lambda: c.SubmitProof(big))
        check_proof(c.prove(d.window()))


def malformed_messages():
    """Bytes that are no message of the contract, and messages above the limit."""
    good = d.window().SerializeToString()
    with Daemon({"daemon.max_message": "1MiB"}) as server, server.client() as c:
        for what, message in (("a field that is cut", good[:-5]), ("a number without end", b"\xff" * 11),
                              ("a group", b"\x0b"), ("field 0", b"\x02\x00"),
                              ("another wire type", b"\x10\x03\x50\x00"),
                              ("a length past the end", b"\x5a" + varint(1 << 40) + b"x")):
            refused(BAD, "", lambda: c.raw("SubmitProof", message), what)
            refused(BAD, "", lambda: c.raw("Prove", b"\x0a" + varint(len(message)) + message), what)
        refused(BAD, "malformed", lambda: c.raw("AwaitProof", b"\x0a\xff"))
        refused(CODE.RESOURCE_EXHAUSTED, "limit of 1048576 bytes",
                lambda: c.SubmitProof(d.window(vanilla_proofs=[bytes(2 << 20)])))
        refused(CODE.RESOURCE_EXHAUSTED, "limit of 65536 bytes",
                lambda: c.wait("x" * 100_000))
        # Unknown fields, and the known ones in another order, are no fault.
        message = b"\xf8\x07\x01" + d.RANDOMNESS.join([b"\xfa\x07\x20", b""]) + good
        answer = pb.SubmitProofResponse.FromString(c.raw("SubmitProof", message))
        check_proof(c.wait(answer.job_id))


d.make_key("window-2KiB")
d.main(requests, unknown_names, malformed_messages)
