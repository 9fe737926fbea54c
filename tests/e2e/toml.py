"""Compares the TOML reader with tomllib; toml.sh starts it."""

import datetime
import glob
import json
import os
import random
import subprocess
import sys
import tomllib

BIN = os.environ["CUZK_BIN"]
WORK = os.environ["CUZK_WORK"]
CHANGES = 6000
DEEPEST = 60  # the reader refuses what is nested deeper than 64, tomllib does not

OWN = [
    "a = 1_000\nb = 0xdead_beef\nc = 0o17\nd = 0b1010\ne = -0\nf = +7\n",
    "a = 1e5\nb = 6.02e+23\nc = -0.0\nd = 1_0.0_1e1_0\ne = inf\nf = -nan\ng = 9.007199254740993e15\n",
    "a = 1979-05-27T07:32:00Z\nb = 1979-05-27 00:32:00.999999-07:00\nc = 1979-05-27\nd = 07:32:00.5\n",
    "a.b.c = 1\na.b.d = 2\n[a.e]\nf = { g.h = 1, i = [1, [2, 'x'], {j = 1}] }\n",
    "[[a.b]]\nc = 1\n[a.b.d]\ne = 2\n[[a.b]]\n[[a.b.f]]\n[[a.b.f]]\n",
    "a = \"\"\"\\\n   x \\  \n\n  y\"\"\"\"\"\nb = '''\n'a''\n'''\nc = \"\\u00e9\\U0001F600\\t\"\n",
    "[x.y.z]\na = 1\n[x]\nb = 2\ny.c = 3\n",
    "a = [ # one\n 1, # two\n\n 2,\n]\r\n\"\" = 'empty key'\n'k 1'.\"k\\n2\" = true\n",
    "a = 9223372036854775807\nb = -9223372036854775808\n",
    "a = 9223372036854775808\n",
    "a = 1900-02-29\n",
    "a = 2000-02-29\nb = 2024-02-29\n",
    "a = 2023-02-29\n",
    "a = 2023-04-31\n",
]


def tagged(v, depth=0):
    """The form in which toml_json prints a value."""
    if depth > DEEPEST:
        raise RecursionError
    if isinstance(v, dict):
        return {k: tagged(m, depth + 1) for k, m in v.items()}
    if isinstance(v, list):
        return [tagged(m, depth + 1) for m in v]
    if isinstance(v, bool):
        return {"type": "bool", "value": v}
    if isinstance(v, int):
        if not -(2**63) <= v < 2**63:
            raise ValueError("out of 64 bits")
        return {"type": "integer", "value": str(v)}
    if isinstance(v, float):
        text = "nan" if v != v else "%.17g" % v
        return {"type": "float", "value": text}
    if isinstance(v, str):
        return {"type": "string", "value": v}
    text = ""
    if isinstance(v, datetime.date):
        text += v.strftime("%Y").zfill(4) + v.strftime("-%m-%d")
    if isinstance(v, (datetime.datetime, datetime.time)):
        text += v.strftime("T%H:%M:%S.%f")
        if isinstance(v, datetime.datetime) and v.tzinfo:
            text += "%+d" % (v.utcoffset().total_seconds() // 60)
    return {"type": "datetime", "value": text}


def oracle(data):
    """The tagged value, None for no TOML, or "unsure" where tomllib is narrower than TOML."""
    try:
        return tagged(tomllib.loads(data.decode("utf-8")))
    except RecursionError:
        return "unsure"
    except ValueError as e:
        # years have no 0 for Python
        return "unsure" if b"0000-" in data and "date" in str(e).lower() else None


def without_nan_sign(v):
    if isinstance(v, list):
        return [without_nan_sign(m) for m in v]
    if isinstance(v, dict):
        if v.get("type") == "float" and v.get("value") == "-nan":
            return {"type": "float", "value": "nan"}
        return {k: without_nan_sign(m) for k, m in v.items()}
    return v


def changed(rng, docs):
    """A document with a few bytes changed, dropped, doubled, or spliced from another one."""
    d = bytearray(rng.choice(docs))
    for _ in range(rng.randrange(1, 3)):
        at = rng.randrange(len(d) + 1)
        how = rng.randrange(5)
        if how == 0:
            d[at:at] = rng.choice([b'"', b"'", b"[", b"]", b"{", b"}", b"=", b".", b",", b"\n", b"#",
                                   b"_", b"0", b"e", b"\\", b"\r", b" ", b"-", b":", b"\xc3", b"\0"])
        elif how == 1:
            del d[at:at + rng.randrange(1, 4)]
        elif how == 2:
            d[at:at] = d[at:at + rng.randrange(1, 30)]
        elif how == 3 and d:
            d[rng.randrange(len(d))] = rng.randrange(256)
        else:
            other = rng.choice(docs)
            cut = rng.randrange(len(other) + 1)
            d[at:at] = other[cut:cut + rng.randrange(1, 60)]
    return bytes(d)


def main():
    names = glob.glob(os.environ["CUZK_CORPUS"] + "/**/*.toml", recursive=True)
    assert len(names) > 40, "the corpus is not whole"
    names += glob.glob(os.environ["CUZK_TREE"] + "/packaging/*.toml")
    docs = [open(n, "rb").read() for n in names] + [d.encode() for d in OWN]
    small = [d for d in docs if len(d) < 4000]
    small += 3 * [d for d in small if oracle(d) is not None]  # a change of what is no TOML rarely is
    rng = random.Random(20261130)
    cases = docs + [changed(rng, small) for _ in range(CHANGES)]

    files = []
    for i, data in enumerate(cases):
        files.append("%s/%d.toml" % (WORK, i))
        with open(files[-1], "wb") as f:
            f.write(data)
    lines = []
    for i in range(0, len(files), 500):
        out = subprocess.run([BIN + "/toml_json"] + files[i:i + 500], capture_output=True, check=True)
        lines += out.stdout.decode("utf-8").split("\n")[:-1]
    assert len(lines) == len(cases), "toml_json lost a file"

    bad = accepted = refused = 0
    for data, line in zip(cases, lines):
        want = oracle(data)
        if want == "unsure":
            continue
        got = json.loads(line[3:]) if line.startswith("ok ") else None
        accepted += want is not None
        refused += want is None
        if without_nan_sign(got) != without_nan_sign(want):
            bad += 1
            if bad <= 5:
                print("differs: %r\n  tomllib: %s\n  here:    %s" % (data[:600], want, line))
    print("%d documents accepted and %d refused by both, %d differ" % (accepted, refused, bad))
    return 0 if bad == 0 and accepted > CHANGES // 10 and refused > CHANGES // 10 else 1


sys.exit(main())
