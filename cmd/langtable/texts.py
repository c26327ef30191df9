#!/usr/bin/env python3
"""Gathers the texts that langtable learns from: texts.py LISTS OUT ROOT...

LISTS is a folder of apt's lists with Translation files of many languages (`apt-get -o Dir::State::lists=LISTS
-o Acquire::Languages=de,fr,... update`), each ROOT a folder of message catalogues by language, such as /usr/share/locale.
OUT gets a file CODE.txt for each language, one text a line. What a catalogue leaves untranslated is left out.
"""
import collections
import re
import struct
import subprocess
import sys
from pathlib import Path

# The locales that are read, and the code under which a text of some of them goes.
LOCALES = """en de fr es pt pt_BR it nl sv nb nn no da fi hu ro tr pl cs sk id vi ca hr bs sl et lt lv sq eu af ms ru uk bg
sr be mk""".split()
CODE = {"pt_BR": "pt", "nn": "nb", "no": "nb", "bs": "hr"}
# Markup, placeholders, options, paths, addresses.
NOISE = re.compile(r"<[^>]*>|%\S+|\$\S+|\{[^}]*\}|&[a-z]+;|https?:\S+|\S+@\S+|-\S+|\S*[/\\_=]\S*")
SHORTEST = 3


def clean(text: str) -> str:
    """A text without what is no language, on one line."""
    return " ".join(NOISE.sub(" ", text).replace("_", "").replace("&", "").split())


def catalogue(path: Path):
    """The pairs of a gettext catalogue: message, translations."""
    raw = path.read_bytes()
    order = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}.get(raw[:4])
    if not order:
        return
    count, messages, translations = struct.unpack(order + "III", raw[8:20])
    for k in range(count):
        size, at = struct.unpack_from(order + "II", raw, messages + 8 * k)
        size2, at2 = struct.unpack_from(order + "II", raw, translations + 8 * k)
        if not size:
            continue
        try:
            message = raw[at:at + size].decode().split("\0")[0].split("\4")[-1]
            yield clean(message), [clean(t) for t in raw[at2:at2 + size2].decode().split("\0")]
        except UnicodeDecodeError:
            continue


def descriptions(lists: Path, locale: str):
    """The sentences of the package descriptions in a language."""
    for path in sorted(lists.glob(f"*i18n_Translation-{locale.replace('_', '%5f')}.*")):
        text = subprocess.run(["/usr/lib/apt/apt-helper", "cat-file", str(path)], capture_output=True, check=True).stdout
        paragraph: list[str] = []
        for line in [*text.decode("utf-8", "replace").split("\n"), ""]:
            if line.startswith(" ") and not line.startswith((" .", "  ")):
                paragraph.append(line.strip())
                continue
            yield from re.split(r"(?<=[.!?])\s+", clean(" ".join(paragraph)))
            paragraph = []
            if line.startswith("Description-") and not line.startswith("Description-md5"):
                yield clean(line.split(":", 1)[1])


def main() -> None:
    """Write the files."""
    lists, out, roots = Path(sys.argv[1]), Path(sys.argv[2]), [Path(r) for r in sys.argv[3:]]
    texts: dict[str, dict[str, None]] = collections.defaultdict(dict)
    for locale in LOCALES:
        mine = texts[CODE.get(locale, locale)]
        for root in roots:
            for path in sorted((root / locale / "LC_MESSAGES").glob("*.mo")):
                if path.name.startswith("iso"):  # names of places and languages
                    continue
                for message, translations in catalogue(path):
                    mine.update((t, None) for t in translations if t != message and len(t) >= SHORTEST)
                    if locale == "de" and len(message) >= SHORTEST:
                        texts["en"][message] = None
        mine.update((t, None) for t in descriptions(lists, locale) if len(t) >= SHORTEST)
    out.mkdir(parents=True, exist_ok=True)
    for code, lines in texts.items():
        (out / f"{code}.txt").write_text("".join(line + "\n" for line in lines), "utf-8")


if __name__ == "__main__":
    main()
