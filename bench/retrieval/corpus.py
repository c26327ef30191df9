"""Reads a data set (corpus.jsonl, queries.jsonl, qrels.tsv, plain or gzip) and cuts its documents into chunks."""
import gzip
import hashlib
import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

# Measure that decides per set: that of the project's quality targets where there is one.
MAIN = {"scifact": "ndcg@10", "locomo": "recall@10", "org_peps": "recall@5", "org_tsc_minutes": "recall@5",
        "qmsum_val": "recall@5", "2wiki_hipporag": "recall@5", "cranfield": "ndcg@10",
        "sessions_claude_code": "recall@5", "longmemeval_pool_dev": "recall@5"}


@dataclass
class Doc:
    id: str
    title: str
    content: str
    scope: str | None
    time: float | None  # seconds, None when the set gives none


@dataclass
class Query:
    id: str
    text: str
    scope: str | None
    relevant: dict = field(default_factory=dict)


def lines(folder, stem):
    for path in (folder / stem, folder / (stem + ".gz")):
        if path.is_file():
            opener = gzip.open if path.suffix == ".gz" else open
            with opener(path, "rt", encoding="utf-8") as handle:
                yield from (line.rstrip("\n") for line in handle if line.strip())
            return
    raise FileNotFoundError(folder / stem)


MONTHS = {m: i + 1 for i, m in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split())}


def seconds(value):
    """The time forms of the sets as seconds since 1970, or None."""
    text = str(value or "").strip()
    if not text:
        return None
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        numbers = re.match(r"(\d{4})/(\d\d)/(\d\d)(?:\s*\(\w+\))?(?:\s+(\d\d):(\d\d))?$", text)
        spoken = re.match(r"(\d{1,2}):(\d\d)\s*([ap]m) on (\d{1,2}) (\w+),? (\d{4})$", text)
        day = re.match(r"(\d{1,2})[- ]([A-Za-z]{3})[a-z]*[- ](\d{4})", text)
        if numbers:
            when = datetime(*(int(x) for x in numbers.groups(default="0")))
        elif spoken:
            when = datetime(int(spoken[6]), MONTHS[spoken[5][:3].lower()], int(spoken[4]),
                            int(spoken[1]) % 12 + (12 if spoken[3] == "pm" else 0), int(spoken[2]))
        elif day and day[2].lower() in MONTHS:
            when = datetime(int(day[3]), MONTHS[day[2].lower()], int(day[1]))
        else:
            return None
    return (when if when.tzinfo else when.replace(tzinfo=timezone.utc)).timestamp()


def stable_sample(things, limit, key):
    """A fixed pseudo-random sample in the original order."""
    if not limit or limit >= len(things):
        return list(things)
    order = sorted(range(len(things)), key=lambda i: hashlib.sha256(f"0\0{key(things[i])}".encode()).digest())
    return [things[i] for i in sorted(order[:limit])]


def read(folder):
    """Documents (equal contents of one scope count once) and queries with relevant documents."""
    folder = Path(folder)
    docs, first, alias = [], {}, {}
    for line in lines(folder, "corpus.jsonl"):
        r = json.loads(line)
        text, title = (r.get("text") or "").strip(), (r.get("title") or "").strip()
        content = f"{r['speaker']}: {text}" if r.get("speaker") and text else text or title
        key = (r.get("scope"), content)
        alias[r["id"]] = first.setdefault(key, r["id"])
        if content and first[key] == r["id"]:
            docs.append(Doc(r["id"], title, content, r.get("scope"), seconds(r.get("timestamp"))))
    relevant = defaultdict(dict)
    for line in lines(folder, "qrels.tsv"):
        query, doc, grade = line.split("\t")[:3]
        if float(grade) > 0 and doc in alias:
            relevant[query][alias[doc]] = max(float(grade), relevant[query].get(alias[doc], 0))
    queries = []
    for line in lines(folder, "queries.jsonl"):
        r = json.loads(line)
        if relevant.get(r["id"]):
            queries.append(Query(r["id"], r["text"].strip(), r.get("scope"), relevant[r["id"]]))
    return docs, queries


SENTENCE = re.compile(r'(?<=[.!?。！？])["\')\]”’]*\s+(?=["\'(\[“‘]*[^\sa-z])|(?<=[。！？])')
UNDERLINE = re.compile(r'^([=\-~^"\'#*+`.:])\1{2,}\s*$')
ATX = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")


def units(text):
    """Sentences and headings in order, as (heading path, text, is a heading)."""
    rows, out, path, marks, para, i = text.split("\n"), [], [], [], [], 0

    def flush():
        if para:
            block = "\n".join(para)
            para.clear()
            out.extend((tuple(t for _, t in path), p.strip(), False)
                       for p in SENTENCE.split(block) if p and p.strip())

    while i < len(rows):
        row, head = rows[i], None
        if m := ATX.match(row):
            head, used = (len(m[1]), m[2]), 1
        elif (i + 1 < len(rows) and row.strip() and not row[0].isspace() and len(row) < 120
              and UNDERLINE.match(rows[i + 1]) and not UNDERLINE.match(row)
              and len(rows[i + 1].rstrip()) >= min(len(row.rstrip()), 8)):
            mark = rows[i + 1][0]
            if mark not in marks:
                marks.append(mark)
            head, used = (marks.index(mark) + 1, row.strip()), 2
        if head:
            flush()
            while path and path[-1][0] >= head[0]:
                path.pop()
            path.append(head)
            out.append((tuple(t for _, t in path), head[1], True))
            i += used
            continue
        if row.strip():
            para.append(row)
        else:
            flush()
        i += 1
    flush()
    return out


def chunk(title, content, limit, count):
    """(title path, body) pairs of at most `limit` tokens each; `count` gives token counts of texts."""
    found = units(content)
    if not found:
        return [(title, content)]
    parts = []
    for (path, text, heading), n in zip(found, count([u[1] for u in found])):
        if n <= limit:
            parts.append((path, text, heading, n))
            continue
        words = text.split(" ")
        piece, size = [], 0
        for word, k in zip(words, count(words)):
            if piece and size + k > limit:
                parts.append((path, " ".join(piece), False, size))
                piece, size = [], 0
            piece.append(word)
            size += k
        if piece:
            parts.append((path, " ".join(piece), False, size))
    total = sum(p[3] for p in parts)
    goal = total / max(1, -(-total // limit))
    groups, now, size = [], [], 0
    for p in parts:
        if now and (size + p[3] > limit or (p[2] and size >= limit / 2) or size + p[3] / 2 > goal):
            groups.append(now)
            now, size = [], 0
        now.append(p)
        size += p[3]
    groups.append(now)
    out = []
    for group in groups:
        path = [x for x in group[0][0] if x.strip()]
        if group[0][2]:
            path = path[:-1]
        if path and title and path[0].lower() == title.lower():
            path = path[1:]
        out.append((" > ".join(([title] if title else []) + path), "\n".join(p[1] for p in group)))
    return out


def with_title(prefix, body):
    return f"{prefix}\n{body}" if prefix else body
