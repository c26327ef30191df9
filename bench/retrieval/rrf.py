"""Reciprocal rank fusion with equal weights against the shipped score, from result files of the evaluation harness.

    rrf.py --data DATA --results DIR SET ...

DIR holds SET-hybrid.json, SET-vector.json and SET-keyword.json, each from `run.py retrieval SET --mode MODE --topk 50`
against one running service.
"""
import argparse
import csv
import json
import math
import random
from pathlib import Path

K = 60  # of Cormack, Clarke and Buettcher, Reciprocal Rank Fusion (2009)


def qrels(folder):
    """Relevant documents and their grades by query."""
    found = {}
    with open(folder / "qrels.tsv", encoding="utf-8") as file:
        for row in csv.reader(file, delimiter="\t"):
            if row and row[-1].lstrip("-").isdigit() and int(row[-1]) > 0:
                found.setdefault(row[0], {})[row[-2]] = int(row[-1])
    return found


def rankings(path):
    """Ranked documents by query."""
    return {q: row["ranked"] for q, row in json.loads(path.read_text())["per_query"].items()}


def fuse(a, b):
    """Documents of two rankings by the sum of 1/(K+rank)."""
    score = {}
    for ranked in (a, b):
        for rank, doc in enumerate(ranked, 1):
            score[doc] = score.get(doc, 0) + 1 / (K + rank)
    return sorted(score, key=lambda doc: (-score[doc], doc))


def recall(ranked, relevant, depth):
    return len(set(ranked[:depth]) & set(relevant)) / len(relevant)


def ndcg(ranked, relevant, depth=10):
    gain = sum(relevant.get(doc, 0) / math.log2(rank + 1) for rank, doc in enumerate(ranked[:depth], 1))
    best = sum(g / math.log2(rank + 1) for rank, g in enumerate(sorted(relevant.values(), reverse=True)[:depth], 1))
    return gain / best


def interval(differences, rounds=2000):
    """95 % percentile interval of the mean of paired differences."""
    rng, n = random.Random(1), len(differences)
    means = sorted(sum(rng.choices(differences, k=n)) / n for _ in range(rounds))
    return means[int(rounds * 0.025)], means[int(rounds * 0.975)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("sets", nargs="+")
    args = parser.parse_args()
    for name in args.sets:
        relevant = qrels(args.data / name)
        ways = {way: rankings(args.results / f"{name}-{way}.json") for way in ("hybrid", "vector", "keyword")}
        queries = [q for q in ways["hybrid"] if q in relevant]
        ways["rrf"] = {q: fuse(ways["vector"][q], ways["keyword"][q]) for q in queries}
        for measure, f in (("recall@5", lambda r, g: recall(r, g, 5)), ("recall@10", lambda r, g: recall(r, g, 10)),
                           ("nDCG@10", ndcg)):
            rows = {way: [f(ways[way][q], relevant[q]) for q in queries] for way in ways}
            low, high = interval([a - b for a, b in zip(rows["hybrid"], rows["rrf"])])
            figures = " ".join(f"{way} {sum(rows[way]) / len(queries):.3f}" for way in ("vector", "keyword", "rrf", "hybrid"))
            print(f"{name} {measure} n={len(queries)} {figures} hybrid-rrf [{low:+.3f}, {high:+.3f}]")


if __name__ == "__main__":
    main()
