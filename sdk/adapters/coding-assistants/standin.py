"""A stand-in for Claude Code and for its model: one session, one prompt.

It calls the hooks of a settings file (or of a plugin folder) as Claude Code does: at the start
of the session, at the prompt and at the end, each with a JSON object on standard input; and it
gives its "model" what the hooks answer, by the same rules. The model has no key and no network:
it repeats the notes that it was given. Standard library only.

    python3 standin.py "How do we deploy?"
    python3 standin.py --plugin sdk/adapters/coding-assistants "How do we deploy?"
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import uuid


def hooks_of(settings, event, matched):
    """The commands for an event: all groups whose matcher fits, in order."""
    for group in settings.get("hooks", {}).get(event, []):
        if re.fullmatch(group.get("matcher") or ".*", matched):
            yield from (hook for hook in group["hooks"] if hook["type"] == "command")


def call(settings, event, matched, told):
    """Call an event's hooks, and return what they give to the model."""
    given = []
    for hook in hooks_of(settings, event, matched):
        try:
            done = subprocess.run(
                hook["command"], shell=True, capture_output=True, text=True, timeout=hook.get("timeout", 600),
                input=json.dumps({**told, "hook_event_name": event}), cwd=told["cwd"],
                env={**os.environ, "CLAUDE_PROJECT_DIR": told["cwd"]},
            )
        except subprocess.TimeoutExpired:
            print(f"{event} hook: no end within {hook['timeout']} s", file=sys.stderr)
            continue
        if done.returncode != 0:
            print(f"{event} hook: status {done.returncode}: {done.stderr.strip()}", file=sys.stderr)
            continue
        text = done.stdout.strip()
        if event == "SessionEnd" or not text:
            continue
        if text.startswith("{"):  # an object says what it is for; one that does not is dropped
            said = json.loads(text).get("hookSpecificOutput", {})
            text = said.get("additionalContext", "") if said.get("hookEventName") == event else ""
        given.append(text)
    return [text for text in given if text]


def model(context):
    """Repeat the notes of memory."""
    notes = []
    for block in re.findall(r"<orgmem-memory (\w{32})>\n(.*?)\n</orgmem-memory \1>", "\n".join(context), re.DOTALL):
        notes += [json.loads(line)["text"] for line in block[1].splitlines()]
    return "Memory says: " + " | ".join(notes) if notes else "Memory says nothing."


def main():
    """Run one session."""
    home = pathlib.Path(os.environ.get("CLAUDE_CONFIG_DIR") or pathlib.Path.home() / ".claude")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--settings", type=pathlib.Path, default=home / "settings.json")
    parser.add_argument("--plugin", type=pathlib.Path, help="a plugin folder, instead of the settings")
    parser.add_argument("--session", default=str(uuid.uuid4()))
    parser.add_argument("--json", action="store_true", help="print all that the model was given")
    parser.add_argument("prompt")
    args = parser.parse_args()
    file = args.plugin / "hooks" / "hooks.json" if args.plugin else args.settings
    settings = json.loads(file.read_text(encoding="utf-8"))
    cwd = os.getcwd()
    transcript = home / "projects" / re.sub(r"[^A-Za-z0-9]", "-", cwd) / f"{args.session}.jsonl"
    told = {"session_id": args.session, "transcript_path": str(transcript), "cwd": cwd, "permission_mode": "default"}

    start = call(settings, "SessionStart", "startup", {**told, "source": "startup", "model": "stand-in"})
    prompt = call(settings, "UserPromptSubmit", "", {**told, "prompt": args.prompt})
    answer = model(start + prompt)
    transcript.parent.mkdir(parents=True, exist_ok=True)
    with transcript.open("a", encoding="utf-8") as lines:
        for kind, text in (("user", args.prompt), ("assistant", answer)):
            record = {"type": kind, "uuid": str(uuid.uuid4()), "sessionId": args.session, "cwd": cwd,
                      "message": {"role": kind, "content": [{"type": "text", "text": text}]}}
            lines.write(json.dumps(record) + "\n")
    call(settings, "SessionEnd", "", {**told, "reason": "other"})
    print(json.dumps({"SessionStart": start, "UserPromptSubmit": prompt, "answer": answer}) if args.json else answer)


if __name__ == "__main__":
    main()
