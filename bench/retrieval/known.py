"""Finds notes in several scripts by a few of their words, in a running service: the files of brain/text/testdata/known.

Each line of a file is a note, a tab, and queries between semicolons. Each file becomes the memory of one subject. Printed
are, for each, the mean reciprocal rank among the first ten by words alone and of the whole score. ORGMEM_BASE_URL and
ORGMEM_API_KEY name the service and a key for reading, writing and administering.
"""
import json
import os
import pathlib
import sys
import time
import urllib.request

KNOWN = pathlib.Path(__file__).parents[2] / "brain/text/testdata/known"


def call(method, path, body=None, subject=None):
    headers = {"X-Svc-API-Key": os.environ["ORGMEM_API_KEY"], "Content-Type": "application/json"}
    if subject:
        headers["X-Svc-Subject"] = subject
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(os.environ["ORGMEM_BASE_URL"] + path, data, headers, method=method)
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)


def measure(file, run):
    items = [line.rstrip("\n").split("\t") for line in file.open(encoding="utf-8")]
    subject = f"known-{file.stem}-{run}"
    call("PUT", "/v1/subjects/" + subject)
    for begin in range(0, len(items), 50):
        batch = [{"content": note, "externalId": str(begin + i)} for i, (note, _) in enumerate(items[begin:begin + 50])]
        job = call("POST", "/v1/ingest/batch", {"items": batch}, subject)["jobId"]
        while call("GET", "/v1/jobs/" + job)["status"] not in ("succeeded", "failed", "partial"):
            time.sleep(0.2)
    found = {}
    for mode in ("keyword", "hybrid"):
        ranks = []
        for number, (_, queries) in enumerate(items):
            for query in filter(None, queries.split(";")):
                hits = call("POST", "/v1/search", {"query": query, "topK": 10, "mode": mode, "scope": "user"}, subject)["results"]
                rank = next((r for r, h in enumerate(hits, 1) if h.get("externalId") == str(number)), 0)
                ranks.append(1 / rank if rank else 0)
        found[mode] = sum(ranks) / len(ranks)
    return found, len(ranks)


def main():
    for file in sorted(pathlib.Path(sys.argv[1]).glob("*.tsv") if len(sys.argv) > 1 else KNOWN.glob("*.tsv")):
        found, queries = measure(file, int(time.time()))
        print(f"{file.stem:8} {found['keyword']:.3f} {found['hybrid']:.3f} {queries}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
