#!/usr/bin/env python3
"""Fills a memory with a corpus and writes down what the service understands of it.

    walk.py --base URL --key KEY --corpus FILE [--limit N] [--scope A,B] [--ask QUESTION] > walk.md

FILE holds one JSON object a line (gzip or plain): `text`, and where there is one `id`,
`title`, `timestamp` and `scope`. The key needs read and write; take an organization of its
own (`orgmem org create --personal --plan unlimited`). Python 3.11, standard library only.
What is printed is what the interface answers, shortened where a line would be long.
"""
import argparse
import collections
import email.utils
import gzip
import json
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import datetime, timezone

BATCH = 100  # items of one ingest request
PATIENCE = 1800  # seconds until a walk gives up waiting


class Service:
    """The part of the interface that a walk needs."""

    def __init__(self, base, key):
        self.base, self.key = base.rstrip("/"), key

    def call(self, method, path, body=None, **params):
        query = urllib.parse.urlencode({k: v for k, v in params.items() if v is not None})
        request = urllib.request.Request(
            f"{self.base}{path}{'?' + query if query else ''}", method=method,
            headers={"X-Svc-API-Key": self.key, "Content-Type": "application/json"},
            data=None if body is None else json.dumps(body).encode())
        while True:
            try:
                with urllib.request.urlopen(request, timeout=120) as reply:
                    return json.load(reply)
            except urllib.error.HTTPError as refused:
                if refused.code not in (429, 503):
                    sys.exit(f"{method} {path}: {refused.code} {refused.read().decode()}")
                time.sleep(float(refused.headers.get("Retry-After") or 1))

    def pages(self, path, most, **params):
        found, cursor = [], None
        while len(found) < most:
            page = self.call("GET", path, pageSize=100, cursor=cursor, **params)
            found += page["data"]
            cursor = page.get("nextCursor")
            if not cursor:
                break
        return found[:most]


def when(stamp):
    """A timestamp as the interface takes it, or None where it cannot be read."""
    if not stamp:
        return None
    for form in ("%Y-%m-%d", "%d-%b-%Y", "%d-%B-%Y"):
        try:
            return datetime.strptime(stamp, form).strftime("%Y-%m-%dT00:00:00Z")
        except ValueError:
            pass
    for read in (datetime.fromisoformat, email.utils.parsedate_to_datetime):
        try:
            return read(stamp).astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        except ValueError:
            pass
    return None


def documents(path, limit, scopes):
    """The documents of a corpus as items to ingest."""
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    items = []
    with opened as lines:
        for line in lines:
            doc = json.loads(line)
            if scopes and doc.get("scope") not in scopes:
                continue
            item = {"content": doc["text"], "externalId": doc.get("id"), "title": doc.get("title") or None,
                    "occurredAt": when(doc.get("timestamp"))}
            items.append({k: v for k, v in item.items() if v})
            if limit and len(items) == limit:
                break
    return items


def fill(service, items):
    """Ingest, and wait for a cycle that begins behind that."""
    late = time.monotonic() + PATIENCE
    jobs = [service.call("POST", "/v1/ingest/batch", {"items": items[i:i + BATCH]})["jobId"]
            for i in range(0, len(items), BATCH)]
    ended = ""
    for job in jobs:
        while (state := service.call("GET", f"/v1/jobs/{job}"))["status"] in ("queued", "running"):
            if time.monotonic() > late:
                sys.exit("the ingestion did not end")
            time.sleep(1)
        ended = max(ended, state["finishedAt"])
    while True:
        cycles = service.call("GET", "/v1/jobs", type="cognition", pageSize=5)["data"]
        if any(c["status"] == "succeeded" and c["startedAt"] >= ended for c in cycles):
            return
        if time.monotonic() > late:
            sys.exit("no cycle ended")
        time.sleep(1)


def short(text, most=240):
    """A text on one line."""
    text = re.sub(r"\s+", " ", text or "").strip()
    return text if len(text) <= most else text[:most].rsplit(" ", 1)[0] + " …"


def section(title, why, lines):
    print(f"\n## {title}\n\n{why}\n")
    if not lines:
        print("*None.*")
    for line in lines:
        print(f"- {line}")


def walk(service, asks):
    """Go through the views as a reader would."""
    entities = service.pages("/v1/graph/nodes", 20000, kind="entity")
    by_type = collections.defaultdict(list)
    for node in entities:
        by_type[(node.get("metadata") or {}).get("entityType", "other")].append(node)
    lines = []
    for kind, nodes in sorted(by_type.items(), key=lambda kv: -len(kv[1])):
        nodes.sort(key=lambda n: (-n["degree"], n["title"]))
        lines.append(f"**{kind}** ({len(nodes)}): " + ", ".join(
            short(n["title"], 40) + f" ({n['degree']})" for n in nodes[:12]))
    section("Who and what is named", "`GET /v1/graph/nodes?kind=entity`: the entities with most ties (their number), by type.", lines)

    edges = service.pages("/v1/graph/edges", 20000, origin="ingest")
    title = {n["id"]: n["title"] for n in entities}
    said = [e for e in edges if e["source"] in title and e["target"] in title]
    said.sort(key=lambda e: (-len(e["evidence"]), -e["confidence"], e["id"]))
    section("How they are related", "`GET /v1/graph/edges`: relations that a sentence states, those with most evidence first.",
            [f"{short(title[e['source']], 40)} — *{e['type']}* → {short(title[e['target']], 40)} ({len(e['evidence'])})" for e in said[:12]])

    domains = service.pages("/v1/graph/domains", 500)
    domains.sort(key=lambda d: -d["nodeCount"])
    names = {}
    for d in domains[:10]:
        for node in d["topNodes"][:3]:
            names[node] = short(service.call("GET", "/v1/graph/nodes/" + urllib.parse.quote(node, safe=""))["title"], 60)
    section(f"What it is about: {len(domains)} domains", "`GET /v1/graph/domains`: the largest, with keywords and their most central texts.",
            [f"**{d['label']}** ({d['nodeCount']} nodes): {', '.join(d['keywords'][:8])}. Such as "
             + "; ".join(f"“{names[n]}”" for n in d["topNodes"][:3]) for d in domains[:10]])

    pairs = service.pages("/v1/contradictions", 500)
    pairs.sort(key=lambda c: -c["severity"])
    section(f"What is at odds: {len(pairs)} pairs", "`GET /v1/contradictions`: the gravest. Which side is right the service does not say.",
            [f"*{c['kind']}*, {c['severity']:.2f}: {short(c['explanation'], 420)}" for c in pairs[:8]])

    insights = service.call("GET", "/v1/recall/insights")["insights"]
    by_kind = collections.defaultdict(list)
    for i in insights:
        by_kind[i["kind"]].append(i)
    section("What stands out", "`GET /v1/recall/insights`: three of each kind.",
            [f"*{kind}*, {i['confidence']:.2f}: {short(i['title'], 160)} — {short(i['detail'], 160)}"
             for kind in sorted(by_kind) for i in sorted(by_kind[kind], key=lambda i: -i["confidence"])[:3]])

    temporal = service.call("GET", "/v1/recall/temporal")
    section("When", "`GET /v1/recall/temporal`: the latest moments, then what rises and fades.",
            [f"{e['at'][:10]} ({e['kind']}): {short(e['title'], 140)}" for e in temporal["events"][:8]]
            + [short(json.dumps(t, ensure_ascii=False), 200) for t in list(temporal.get("trends") or [])[:6]])

    identity = service.call("GET", "/v1/recall/identity")
    voice, basins = identity.get("voiceProfile"), identity.get("basins") or []
    section("Who writes", "`GET /v1/recall/identity`: the basins of what is written, and how.",
            [f"basin **{b.get('label')}**, {100 * (b.get('share') or 0):.0f} %: {', '.join((b.get('keywords') or [])[:6])}" for b in basins]
            + ([short(json.dumps(voice, ensure_ascii=False), 300)] if voice else []))

    proposals = service.pages("/v1/proposals", 50, status="open")
    section("What may belong together", "`GET /v1/proposals`: links that are proposed, and why.",
            [f"{p['score']:.2f}: {short(p['rationale'], 240)}" for p in sorted(proposals, key=lambda p: -p["score"])[:5]])

    for ask in asks:
        found = service.call("POST", "/v1/retrieve", {"query": ask, "topK": 3, "maxHops": 2})
        section(f"Asked: {ask}", "`POST /v1/retrieve`, two hops: the passages, and the way to each.",
                [f"{r['score']:.2f}, {len(p['nodes']) - 1} hops — “{short(r['title'], 80)}”: {short(r['chunk'], 260)}"
                 for r, p in zip(found["results"], found["paths"])])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="http://127.0.0.1:8080")
    parser.add_argument("--key", required=True)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--title", default="A walk")
    parser.add_argument("--source", default="", help="where the corpus is from, and its licence")
    parser.add_argument("--limit", type=int, default=0, help="only the first documents")
    parser.add_argument("--scope", default="", help="comma list: only documents of these scopes")
    parser.add_argument("--ask", action="append", default=[], help="a question; may be given several times")
    args = parser.parse_args()
    service = Service(args.base, args.key)
    items = documents(args.corpus, args.limit, set(filter(None, args.scope.split(","))))
    if not items:
        sys.exit("the corpus has no such document")
    fill(service, items)
    counts = service.call("GET", "/v1/recall/graph")["counts"]
    print(f"# {args.title}\n")
    if args.source:
        print(f"{args.source}\n")
    print(f"{len(items)} documents, {counts['nodes']} nodes, {counts['edges']} edges. Written by `walk.py`; nothing is edited.")
    walk(service, args.ask)


if __name__ == "__main__":
    main()
