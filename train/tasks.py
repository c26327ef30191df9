"""What else a reader can learn from train/data: answers in passages, spans and tenses in texts, classes of sentences.

Held out, never trained on: one block in seven, of memories (questions) or of ten records (the rest).
"""
import re

from pairs import BLOCK, DATA, DISPUTED, HELD_OUT, mistyped, noisy, records

TYPES = ["person", "organization", "product", "place", "project", "event", "identifier", "quantity", "money",
         "duration", "time"]
CLASSES = ["event", "commitment", "preference", "belief", "decision", "question", "instruction", "none"]
TENSES = ["none", "past", "present", "future", "recurring"]
IGNORE = -100
WINDOW = 110  # words of joined passages
JOINED = 0.25  # of the records whose passages are joined, in an epoch
MISTYPED = 0.15  # of the questions and of the passages, in an epoch


def batches_of(pattern):
    """(record, whether it is held out), of every file of a kind. Records of one memory are on one side."""
    for path in sorted(DATA.glob(pattern)):
        block, last = -1, None
        for i, r in enumerate(records(path.name)):
            memory = memory_of(r["id"]) if "qa" in pattern else i // BLOCK
            if memory != last:
                block, last = block + 1, memory
            r["batch"] = path.name.split(".")[0]
            r["memory"] = f"{r['batch']} {memory}"
            if r["id"] not in DISPUTED:
                yield r, block % HELD_OUT == 3


def memory_of(name):
    """The memory of a question: its id without what numbers the question."""
    return re.sub(r"(-\d+|[a-z])$", "", name) if re.search(r"\d-\d+$|\d[a-z]$", name) else int(name[-4:]) // BLOCK


def load():
    train, held = {}, {}
    for task, pattern in (("ask", "*qa-*.xz"), ("spans", "*spans-*.xz"), ("times", "*times-*.xz")):
        train[task], held[task] = [], []
        for r, out in batches_of(pattern):
            (held if out else train)[task].append(r)
    train["framed"], held["framed"] = [], []
    asked = {r["frame"]: r for path in sorted(DATA.glob("asks-*.xz")) for r in records(path.name)}
    for path in sorted(DATA.glob("frames-*.xz")):
        for i, f in enumerate(records(path.name)):
            if f["id"] in asked and f["id"] not in DISPUTED:
                (held if i % HELD_OUT == 3 else train)["framed"].append(framed(f, asked[f["id"]]))
    return train, held


DRAWN = 2  # memories of a frame, in an epoch
WRITERS = ["Tomasz", "Ines", "Mr Abara", "office", "Yuki", "Farida", "Lars", "minutes", "Ms Duval", "Anselm", "shift B"]


def framed(frame, asked):
    """What asks for the fact of a frame: its questions, what answers them as (statement, span), and what only looks like
    it. Of clashes that answer nothing, most deny what is asked about, which readers do not agree on: they are left out."""
    said = [(text, span) for kind, name in (("a", "a"), ("clash", "c"), ("fine", "f"))
            for text, span in zip(frame[kind], asked[name])]
    return {"id": frame["id"], "lang": frame["lang"], "questions": asked["q"], "answers": [x for x in said if x[1]],
            "others": [text for text, span in zip(frame["fine"], asked["f"]) if not span]}


def memories(some, rng, drawn=DRAWN):
    """Records of questions, drawn from frames: half of them with an answer among statements that look like it, half
    with these alone."""
    for n, r in enumerate(some):
        for k in range(drawn):
            other = some[rng.randrange(len(some))]
            yield memory(r, rng, (n + k) % 2 == 0, [] if other is r else other["others"])


def memory(r, rng, answered, alien):
    """A record of a question: notes of one or two statements, one of which answers it or none."""
    others = rng.sample(r["others"], min(len(r["others"]), rng.randint(4, 7)))
    others += rng.sample(alien, min(len(alien), rng.randint(0, 2)))
    rng.shuffle(others)
    notes, answer = [], None
    if answered and r["answers"]:
        text, span = rng.choice(r["answers"])
        while others and rng.random() < 0.35:
            beside = others.pop()
            text = f"{beside} {text}" if rng.random() < 0.5 and span not in beside else f"{text} {beside}"
        notes, answer = [text], {"passage": 0, "span": span}
    while others:
        text = others.pop()
        if others and rng.random() < 0.35:
            text += " " + others.pop()
        notes.append(text)
    at = lambda: f"202{rng.randint(3, 6)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
    who = lambda: {"who": rng.choice(WRITERS), "at": at()} if rng.random() < 0.4 else {}
    return {"id": r["id"], "batch": "framed", "lang": r["lang"], "question": rng.choice(r["questions"]),
            "passages": [{"text": t, **who()} for t in notes], "answer": answer}


def passage_text(p, rng):
    """A passage as the service shows it to the reader: with who wrote it, and when, where that is known."""
    who, at, r = p.get("who"), p.get("at"), rng.random()
    if who and at and r < 0.3:
        return f"{who}, {at}: ", p["text"]
    if who and r < 0.7:
        return f"{who}: ", p["text"]
    return "", p["text"]


def find(text, phrase):
    at = text.find(phrase)
    return (at, at + len(phrase)) if at >= 0 else None


def questions(some, rng, noise=True):
    """(question, passage, answer's span in it or None, index of the record) of every passage of every record."""
    for n, r in enumerate(some):
        a = r["answer"]
        for i, p in enumerate(r["passages"]):
            before, text = passage_text(p, rng)
            span = None
            if a and a["passage"] == i:
                span = find(text, a["span"])
            elif a:
                for other in r.get("also") or []:
                    span = span or find(text, other)
            if noise and rng.random() < MISTYPED:
                text = mistyped(text, rng, span or (0, 0))
            if span:
                span = span[0] + len(before), span[1] + len(before)
            question = noisy(r["question"], rng) if noise else r["question"]
            if noise and rng.random() < MISTYPED and len(question) > 12:
                question = mistyped(question, rng)
            yield question, before + text, span, n


def joined(r, rng):
    """The record with its passages joined to windows, as they are cut out of minutes, chats and other long texts. None
    where the answer's words stand in what comes before it."""
    order, windows, words, answer = list(range(len(r["passages"]))), [], 0, r["answer"]
    rng.shuffle(order)
    named, mark = rng.random() < 0.5, rng.choice(["", "", "- ", "* "])
    for i in order:
        p = r["passages"][i]
        text = mark + (f"{p['who']}: " if named and p.get("who") else "") + p["text"]
        if words <= 0:
            windows.append("")
            words = rng.randint(30, WINDOW)
        if r["answer"] and r["answer"]["passage"] == i:
            if r["answer"]["span"] in windows[-1]:
                return None
            answer = {**r["answer"], "passage": len(windows) - 1}
        windows[-1] += ("\n" if windows[-1] else "") + text
        words -= len(text.split())
    return {**r, "passages": [{"text": w} for w in windows], "answer": answer}


def left_open(r, rng):
    """A question whose answer has been taken out: of what its passage says, the sentence with the answer is left out, or
    the question asks of another name of the memory. None where that cannot be done. What is left looks as if it
    answered, which is what a reader must learn to doubt. The passage that answered stands first."""
    if rng.random() < 0.3:
        return asked_of_another(r, rng)
    a, spans = r["answer"], [r["answer"]["span"], *(r.get("also") or [])]
    left = []
    for i, p in enumerate(r["passages"]):
        said = [s for s in re.split(r"(?<=[.!?;])\s+|\n+", p["text"]) if not any(x in s for x in spans)]
        if len(" ".join(said).split()) < 4:
            if i == a["passage"]:
                return None
            continue
        left.insert(0 if i == a["passage"] else len(left), {**p, "text": " ".join(said)})
    return {**r, "passages": left, "answer": None}


def asked_of_another(r, rng):
    """The question with one of its names put in the place of another of the memory that its passage has not."""
    answers = r["passages"][r["answer"]["passage"]]
    there = answers["text"] + " " + (answers.get("who") or "")
    asked = [n for n in re.findall(r"(?<=\s)[A-Z][a-z]+", r["question"]) if n in there]
    others = sorted({n for p in r["passages"] for n in re.findall(r"(?<=[a-z,] )[A-Z][a-z]{2,}", p["text"])}
                    - set(re.findall(r"\w+", there)) - set(re.findall(r"\w+", r["question"])))
    if not asked or not others:
        return None
    question = r["question"].replace(rng.choice(asked), rng.choice(others))
    return {**r, "question": question, "answer": None,
            "passages": sorted(r["passages"], key=lambda p: p is not answers)}


def marks(r):
    """Spans of a record of spans or times as (start, end, type, tense or None), longest first where they overlap."""
    if "marks" in r:
        return r["marks"]
    out = []
    for s in r.get("spans", []):
        at = -1
        for _ in range(s.get("n", 1)):
            at = r["text"].find(s["text"], at + 1)
        if at >= 0:
            out.append((at, at + len(s["text"]), s["type"], None))
    for e in r.get("events", []):
        if at := find(r["text"], e["phrase"]):
            out.append((*at, "time", e["tense"]))
    for phrase in r.get("recurring", []):
        if at := find(r["text"], phrase):
            out.append((*at, "time", "recurring"))
    out.sort(key=lambda m: m[0] - m[1])
    kept = []
    for m in out:
        if all(m[1] <= k[0] or m[0] >= k[1] for k in kept):
            kept.append(m)
    return kept


NAMES = ("person", "organization", "product", "place", "project", "event")


def names_of(some):
    """The names of some records by type: what others are replaced with."""
    pool = {t: [] for t in NAMES}
    for r in some:
        for s in r.get("spans", []):
            if s["type"] in pool and r["lang"] == "en":
                pool[s["type"]].append(s["text"])
    return pool


def renamed(r, pool, rng):
    """A record whose names are replaced by others of their type, all mentions of one alike, so that a reader learns what
    a sentence says of a name and not who is what."""
    if "events" in r or r["lang"] != "en":
        return r
    new, text, spans, end = {}, "", [], 0
    for start, stop, kind, _ in sorted(marks(r)):
        name = old = r["text"][start:stop]
        if kind in pool:
            name = new.setdefault(old, rng.choice(pool[kind]) if rng.random() < 0.8 else old)
            if old.islower():
                name = name.lower()
        text += r["text"][end:start] + name
        spans.append((len(text) - len(name), len(text), kind, None))
        end = stop
    return {**r, "text": text + r["text"][end:], "marks": spans}


def tags(r, offsets, pieces):
    """Labels of tokens: of their types and tenses. Only the first piece of a word is learned from.

    Records of times say nothing of names: there only times and what is none are known.
    """
    only_times = "events" in r
    spans = marks(r)
    tag, tense = [], []
    for (start, end), piece in zip(offsets, pieces):
        if piece.startswith("##"):
            tag.append(IGNORE)
            tense.append(IGNORE)
            continue
        inside = next((m for m in spans if m[0] <= start < m[1]), None)
        if inside is None:
            tag.append(IGNORE if only_times else 0)
            tense.append(0)
            continue
        kind = TYPES.index(inside[2])
        tag.append(1 + 2 * kind if start == inside[0] else 2 + 2 * kind)
        tense.append(IGNORE if inside[2] == "time" and inside[3] is None else
                     TENSES.index(inside[3]) if inside[3] else 0)
    return tag, tense


SPELLINGS = 8
BEFORE_OPENING = " \t\"'“”‘’*_#(-•–—>"


def spelling(text, start):
    """How the word at a place of a text is spelt: no word, digits, digits and letters, small, capitals, a capital
    within, a capital that begins a sentence or a line, a capital elsewhere. brain/reader/spelling.go has the same."""
    if not text[start].isalnum():
        return 0
    end = start
    while end < len(text) and text[end].isalnum():
        end += 1
    while start > 0 and text[start - 1].isalnum():
        start -= 1
    word = text[start:end]
    if any(c.isdecimal() for c in word):
        return 1 if word.isdecimal() else 2
    upper = sum(c.isupper() for c in word)
    if upper == 0:
        return 3
    if upper == len(word) and upper > 1:
        return 4
    if not word[0].isupper() or upper > 1:
        return 5
    before = text[:start].rstrip(BEFORE_OPENING)
    return 6 if not before or before[-1] in ".!?:\n" else 7


def sentences(r):
    """Where the sentences of a record's text stand, and their classes: (start, end, class)."""
    end = 0
    for s, c in (r.get("classes") or {}).items():
        at = r["text"].find(s, end)
        if at < 0:  # they are not in order
            at = r["text"].find(s)
        else:
            end = at + len(s)
        if at >= 0 and c in CLASSES:
            yield at, at + len(s), CLASSES.index(c)
