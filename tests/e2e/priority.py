"""A CRITICAL job among a queue of HIGH and NORMAL ones: it waits for at most the partition that a device has
in hand, and with the reserved lane for none."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "support"))
import daemon as d  # noqa: E402
from daemon import Daemon, pb  # noqa: E402

SETTINGS = {"memory.total_budget": "2GiB", "srs.preload": ["winning-2KiB", "window-2KiB"],
            "logging.level": "warn"}
CRITICAL_JOBS, OTHERS, PARTITIONS = 4, 6, 3


class Queue:
    """A daemon with a queue of HIGH and NORMAL jobs, to which CRITICAL ones come as partitions are proved."""

    def __init__(self, settings):
        with Daemon({**SETTINGS, **settings}) as server, server.client() as c:
            for circuit in ("winning-2KiB", "window-2KiB"):
                c.PreloadSRS(pb.PreloadSrsRequest(circuit_id=circuit))
            self.others = [f"other-{i}" for i in range(OTHERS)]
            self.critical = [f"critical-{i}" for i in range(CRITICAL_JOBS)]
            for i, job in enumerate(self.others):
                c.submit(d.window(job, (0, 1) * PARTITIONS, priority=d.HIGH if i % 2 else d.NORMAL))
            for i, job in enumerate(self.critical):
                d.until(f"partition {3 * i + 1}", lambda: self.proved(c) > 3 * i)
                d.check_proof(c.prove(d.winning(job)), "winning-2KiB", (0,))
            left = [c.wait(job) for job in self.others]
            self.events = list(c.events())
            for r in left:
                d.check_proof(r, sectors=(0, 1) * PARTITIONS)
        self.begin = {(e.job_id, e.partition): e for e in self.events if e.event == "GPU_START"}
        self.end = {(e.job_id, e.partition): e for e in self.events if e.event == "GPU_END"}

    def proved(self, c):
        return sum(e.event == "GPU_END" and e.job_id in self.others for e in c.events())

    def at(self, event, job):
        return next(e for e in self.events if e.event == event and e.job_id == job)

    def waits(self, job):
        """Milliseconds from acceptance, and from the channel, to the device."""
        start = self.begin[job, 0].t_us
        return [(start - self.at(name, job).t_us) / 1000 for name in ("QUEUED", "CHAN_SEND")]

    def others_begun(self, job, since):
        """Partitions of other jobs that began between an event of this job and its own begin."""
        after, until = self.at(since, job).seq, self.begin[job, 0].seq
        return [key for key, e in self.begin.items() if after < e.seq < until]

    def running(self, job):
        """Partitions of other jobs that were in work when this one began."""
        seq = self.begin[job, 0].seq
        return [key for key, e in self.begin.items() if e.seq < seq < self.end[key].seq]

    def check_order(self):
        """HIGH jobs go before NORMAL ones from when they were there."""
        keys = sorted(self.begin, key=lambda key: self.begin[key].seq)
        order = [job for job, _ in keys if job in self.others]
        after = order[order.index("other-1"):]
        high = [job for job in after if int(job[-1]) % 2]
        assert after[:len(high)] == high, order

    def longest_ms(self):
        return max((self.end[key].t_us - e.t_us) / 1000 for key, e in self.begin.items()
                   if key[0] in self.others)


def a_critical_job_waits_for_one_partition_at_most():
    q = Queue({"gpus.gpu_workers_per_device": 1})
    for job in q.critical:
        queued, sent = q.waits(job)
        print(f"{job}: {queued:.0f} ms, of which {sent:.0f} ms ready; a partition takes up to "
              f"{q.longest_ms():.0f} ms", flush=True)
        # What began while its input was read is the only other one.
        assert len(q.others_begun(job, "QUEUED")) <= 1, q.others_begun(job, "QUEUED")
        assert not q.others_begun(job, "CHAN_SEND"), q.others_begun(job, "CHAN_SEND")
        assert sent <= q.longest_ms() + 500, (sent, q.longest_ms())
    # It did come in the middle: others were proved before and after it.
    last = max(e.seq for key, e in q.end.items() if key[0] in q.others)
    assert all(q.begin[job, 0].seq < last for job in q.critical)
    q.check_order()


def a_reserved_lane_waits_for_none():
    q = Queue({"gpus.gpu_workers_per_device": 2, "scheduler.reserved_critical_lane": True})
    lanes = {q.begin[job, 0].worker for job in q.critical}
    assert len(lanes) == 1, lanes
    assert not any(e.worker in lanes for key, e in q.begin.items() if key[0] in q.others)
    waited = 0
    for job in q.critical:
        queued, sent = q.waits(job)
        print(f"{job}: {queued:.0f} ms, of which {sent:.0f} ms ready, beside {q.running(job)}", flush=True)
        assert not q.others_begun(job, "CHAN_SEND"), q.others_begun(job, "CHAN_SEND")
        ready, start = q.at("CHAN_SEND", job).seq, q.begin[job, 0].seq
        waited += any(ready < e.seq < start for e in q.end.values())
    assert waited <= 1, "critical jobs waited until others ended"  # one may, by chance
    assert any(q.running(job) for job in q.critical), "no critical job began beside another one"


for name in ("winning-2KiB", "window-2KiB"):
    d.make_key(name)
d.main(a_critical_job_waits_for_one_partition_at_most, a_reserved_lane_waits_for_none)
