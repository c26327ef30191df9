"""Retrieval quality of models, fusions and their parts; see README.md beside this file."""
import argparse
import itertools
import math
import random
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import encoder
import terms as kw
from scoring import Config, Workbench

MEASURES = ("recall@5", "recall@10", "mrr@10", "ndcg@10")


def score(ranked, relevant):
    """Measures of one query; `relevant` maps document ids to grades (linear gain)."""
    gold = set(relevant)
    row = {f"recall@{k}": len(gold.intersection(ranked[:k])) / len(gold) for k in (5, 10)}
    row["mrr@10"] = next((1 / (i + 1) for i, d in enumerate(ranked[:10]) if d in gold), 0.0)
    gain = sum(relevant[d] / math.log2(i + 2) for i, d in enumerate(ranked[:10]) if d in gold)
    best = sum(g / math.log2(i + 2) for i, g in enumerate(sorted(relevant.values(), reverse=True)[:10]))
    row["ndcg@10"] = gain / best
    return row


def rows(bench, scores):
    return [score(r, q.relevant) for r, q in zip(bench.ranked(scores), bench.queries)]


def mean(found, measure):
    return sum(r[measure] for r in found) / len(found)


def main_measure(bench, scores):
    return mean(rows(bench, scores), bench.main)


def interval(differences, rounds=2000, seed=7):
    """95 % percentile interval of the mean of paired differences."""
    rng, n = random.Random(seed), len(differences)
    means = sorted(sum(rng.choices(differences, k=n)) / n for _ in range(rounds))
    return means[int(rounds * 0.025)], means[int(rounds * 0.975)]


def benches(args, config=Config()):
    """A workbench per set named `SET` or `SET:POOL`, POOL being the BM25 documents kept per query."""
    for spec in args.sets.split(","):
        name, _, pool = spec.partition(":")
        bench = Workbench(Path(args.data), args.models, args.cache, name, config, args.sample,
                          int(pool) if pool else None)
        bench.label = spec
        yield bench


def command_table(args):
    """Vector, keyword and hybrid per set and model, with intervals of hybrid against the other two."""
    print("set model way " + " ".join(MEASURES))
    for bench in benches(args):
        found = {"keyword": rows(bench, bench.keyword)}
        for model in args.model.split(","):
            c = replace(Config(), model=model)
            bench.vectors(c)
            found["vector"], found["hybrid"] = rows(bench, bench.vector), rows(bench, bench.hybrid(c))
            for way in ("vector", "keyword", "hybrid"):
                print(bench.label, model, way, " ".join(f"{mean(found[way], m):.3f}" for m in MEASURES), flush=True)
            for other in ("vector", "keyword"):
                gaps = [a[bench.main] - b[bench.main] for a, b in zip(found["hybrid"], found[other])]
                low, high = interval(gaps)
                print(f"  {bench.main} hybrid - {other}: {sum(gaps) / len(gaps):+.3f} [{low:+.3f}, {high:+.3f}]")


def command_ablate(args):
    """The main measure of every set when one thing is changed."""
    base = replace(Config(), model=args.model)
    plain = dict(phrase=0.0, context=())
    lexical = {"k1 1.2, b 0.75": dict(k1=1.2, b=0.75), "k1 0.9, b 0.2": dict(b=0.2), "k1 0.6": dict(k1=0.6),
               "no title terms": dict(title_terms=0), "title terms twice": dict(title_terms=2),
               "33 stop words": dict(stop=kw.STOP33), "no stop words": dict(stop=frozenset()),
               "no stemming": dict(stemmed=False)}
    fused = {"shipped": {}, "no phrase share": dict(phrase=0.0), "no context": dict(context=()), "neither": plain,
             **{f"keyword weight {w}": dict(keyword=w) for w in (0.3, 0.5, 1.0, 1.4)},
             **{f"phrase weight {w}": dict(phrase=w) for w in (0.1, 0.2, 0.5)},
             **{f"strong {s}": dict(strong=s) for s in (0.0, 0.4, 0.6, 0.7)},
             "context one": dict(context=(0.3,)), "context 0.5 0.35 0.2": dict(context=(0.5, 0.35, 0.2))}
    loaded = list(benches(args))
    print("variant | " + " | ".join(b.label for b in loaded))

    def show(label, values):
        print(f"{label} | " + " | ".join(f"{v:.3f}" for v in values), flush=True)

    for b in loaded:
        b.vectors(base)
    for label, change in fused.items():
        show(label, [main_measure(b, b.hybrid(replace(base, **change))) for b in loaded])
    for label, change in {"shipped": {}, **lexical}.items():
        c = replace(base, **change)
        for b in loaded:
            b.keywords(c)
        show(f"{label}: keyword alone", [main_measure(b, b.keyword) for b in loaded])
        show(f"{label}: hybrid", [main_measure(b, b.hybrid(c)) for b in loaded])


def command_chunks(args):
    """Chunk sizes, and the title path left out of the embedded text."""
    print("variant | set | vector | keyword | hybrid")
    for label, change in {"128": dict(tokens=128), "200": {}, "256": dict(tokens=256),
                          "200, body embedded alone": dict(titles=False)}.items():
        c = replace(Config(), model=args.model, **change)
        for b in benches(args, c):
            b.vectors(c)
            print(f"{label} | {b.label} | " + " | ".join(
                f"{main_measure(b, s):.3f}" for s in (b.vector, b.keyword, b.hybrid(c))), flush=True)


GRID = [dict(keyword=w, phrase=p, strong=s) for w, p, s in itertools.product(
    (0.3, 0.5, 0.7, 1.0, 1.4), (0.0, 0.15, 0.3, 0.5), (0.4, 0.5, 0.6))]


def command_leave_one_out(args):
    """Weights picked on all sets but one, measured on that one."""
    loaded = list(benches(args))
    for b in loaded:
        b.vectors(replace(Config(), model=args.model))
    values = np.array([[main_measure(b, b.hybrid(replace(Config(), **g))) for b in loaded] for g in GRID])
    shipped = np.array([main_measure(b, b.hybrid(Config())) for b in loaded])
    print("set left out | picked on the others | there | shipped | best on the set itself")
    for i, b in enumerate(loaded):
        others = np.delete(values / values.max(0), i, axis=1).mean(1)
        pick = int(others.argmax())
        print(f"{b.label} | {GRID[pick]} | {values[pick, i]:.3f} | {shipped[i]:.3f} | {values[:, i].max():.3f}")
    pick = int((values / values.max(0)).mean(1).argmax())
    print("best over all sets:", GRID[pick], np.round(values[pick], 3))


def command_quantise(args):
    """int8 vectors (one scale each) against fp32, in the ranking of vector and of hybrid."""
    c = replace(Config(), model=args.model)
    for b in benches(args):
        b.vectors(c)
        exact = main_measure(b, b.vector), main_measure(b, b.hybrid(c))
        scale = np.abs(b.passages).max(1, keepdims=True) / 127
        small = np.rint(b.passages / scale)
        mine = np.abs(b.asking).max(1, keepdims=True) / 127
        asked, worst = np.rint(b.asking / mine), 0.0
        for g in b.groups:
            rough = (asked[g.queries] @ small[g.chunks].T) * mine[g.queries] * scale[g.chunks].T
            rough = encoder.alike(args.model, rough)
            worst, g.cosine = max(worst, float(np.abs(rough - g.cosine).max())), rough
        rough = main_measure(b, b.vector), main_measure(b, b.hybrid(c))
        print(f"{b.label} vector {exact[0]:.4f} int8 {rough[0]:.4f} | hybrid {exact[1]:.4f} int8 {rough[1]:.4f} | "
              f"largest error of a cosine {worst:.4f}")


def command_cost(args):
    """CPU of the models on onnxruntime, one thread: passages of 100 tokens in batches, a query of 16 tokens."""
    rng = random.Random(3)
    for model in args.model.split(","):
        e = encoder.Encoder(args.models, model)
        passages = [[101] + [rng.randrange(2000, 20000) for _ in range(98)] + [102] for _ in range(160)]
        query = [[101] + [rng.randrange(2000, 20000) for _ in range(14)] + [102]]
        e.run(passages[:16])
        begun = time.process_time()
        for i in range(0, len(passages), 16):
            e.run(passages[i:i + 16])
        rate = len(passages) / (time.process_time() - begun)
        begun = time.process_time()
        for _ in range(50):
            e.run(query)
        print(f"{model}: {rate:.1f} chunks of 100 tokens per CPU-s, query {(time.process_time() - begun) * 20:.2f} ms")


def main():
    commands = {"table": command_table, "ablate": command_ablate, "chunks": command_chunks,
                "leave-one-out": command_leave_one_out, "quantise": command_quantise, "cost": command_cost}
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("command", choices=commands)
    p.add_argument("--data", help="directory of the data sets")
    p.add_argument("--models", required=True, help="directory with a folder per model (model.onnx, tokenizer.json)")
    p.add_argument("--cache", default="cache", help="where vectors are kept between runs")
    p.add_argument("--sets", default="locomo,qmsum_val,org_tsc_minutes,scifact,2wiki_hipporag")
    p.add_argument("--model", default="all-minilm-l6-v2", help="one of " + ", ".join(encoder.MODELS)
                   + "; several by comma for table and cost")
    p.add_argument("--sample", type=int, help="only so many queries of each set")
    args = p.parse_args()
    if args.command != "cost" and not args.data:
        p.error("--data is needed")
    commands[args.command](args)


if __name__ == "__main__":
    sys.exit(main())
