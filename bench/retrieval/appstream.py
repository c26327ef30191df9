"""Descriptions of programs in many languages, one a line behind its language and a tab: what `modelpack -texts` reads.

They come from the AppStream metadata that Debian's package lists carry (`apt-get update` with the components that
/etc/apt/apt.conf.d/50appstream names): the same descriptions, translated by people. Only what is common to all their
vectors is kept of them.
"""
import random
import re
import subprocess
import sys

import yaml

LANGUAGES = {"C": "en", "zh_CN": "zh"} | {x: x for x in (
    "de fr es it pt nl pl ru uk cs sv ja ko ar hi tr fi hu el he id vi").split()}
OTHER = {"pt": "pt_BR"}
LEAST, MOST, EACH = 12, 300, 150  # characters of a text, and texts of a language


def descriptions(lists):
    """Yields {language: text} of what is translated into eight languages or more."""
    for document in lists.split("\n---\n")[1:]:
        if "Summary:" not in document:
            continue
        entry = yaml.safe_load(document)
        for field in ("Summary", "Description"):
            texts = entry.get(field)
            if not isinstance(texts, dict) or len(texts) < 8 or "C" not in texts:
                continue
            plain = {name: re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", texts.get(key) or texts.get(OTHER.get(key)) or ""))
                     for key, name in LANGUAGES.items()}
            yield {name: text.strip()[:MOST] for name, text in plain.items() if len(text.strip()) > LEAST}


def main():
    lists = subprocess.run("cat /var/lib/apt/lists/*dep11*.yml.gz | zcat", shell=True, check=True, capture_output=True)
    found = list(descriptions(lists.stdout.decode()))
    random.Random(1).shuffle(found)
    for language in sorted(LANGUAGES.values()):
        for text in [entry[language] for entry in found if language in entry][:EACH]:
            print(language, text, sep="\t")


if __name__ == "__main__":
    sys.exit(main())
