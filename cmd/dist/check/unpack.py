"""Unpacks the image for one architecture from an OCI layout, every blob held to its sum.

    python3 unpack.py LAYOUT ARCHITECTURE ROOT

prints the image's configuration, the part that a container engine runs it by.
"""

import hashlib
import json
import pathlib
import subprocess
import sys


def main() -> None:
    layout, architecture, root = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]

    def blob(descriptor: dict) -> pathlib.Path:
        algorithm, _, digest = descriptor["digest"].partition(":")
        path = layout / "blobs" / algorithm / digest
        raw = path.read_bytes()
        if hashlib.new(algorithm, raw).hexdigest() != digest or len(raw) != descriptor["size"]:
            sys.exit(f"{path} is not what its name says")
        return path

    (entry,) = json.loads((layout / "index.json").read_text())["manifests"]
    index = json.loads(blob(entry).read_text())
    (found,) = [m for m in index["manifests"] if m["platform"]["architecture"] == architecture]
    manifest = json.loads(blob(found).read_text())
    config = json.loads(blob(manifest["config"]).read_text())
    if config["architecture"] != architecture:
        sys.exit(f"the configuration says {config['architecture']}")
    models = json.loads(config["config"]["Labels"]["orgmem.models"])
    if not all(len(m["sha256"]) == 64 and m["licence"] for m in models) or len(models) < 5:
        sys.exit(f"the labels tell too little of the models: {models}")
    for layer in manifest["layers"]:
        subprocess.run(["tar", "-xzf", str(blob(layer)), "-C", root, "--numeric-owner", "-p"], check=True)
    print(json.dumps(config["config"]))


main()
