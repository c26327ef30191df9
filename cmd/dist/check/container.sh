#!/usr/bin/env bash
# Runs an unpacked image as a container engine would, in the namespaces that this runs in:
#   container.sh ROOT CONFIG [EMULATOR]
# The root is read-only; the data directory is a volume, /tmp memory.
set -euo pipefail
root=$1 config=$2 emulator=${3:-}
ip link set lo up
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t tmpfs -o mode=700,uid=65532,gid=65532 tmpfs "$root/var/lib/orgmem"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/dev"
for device in null zero random urandom; do
	touch "$root/dev/$device"
	mount --bind "/dev/$device" "$root/dev/$device"
done
mount -o remount,bind,ro "$root"
touch "$root/written" 2>/dev/null && { echo "the root can be written"; exit 1; }
field() {
	python3 -c 'import json,sys
c = json.load(open(sys.argv[1]))
print(*(x for k in sys.argv[2:] for x in c[k]), sep="\n")' "$config" "$@"
}
mapfile -t variables < <(field Env)
mapfile -t command < <(field Entrypoint Cmd)
[ "$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["User"])' "$config")" = 65532:65532 ]
exec setpriv --clear-groups --no-new-privs env -i "${variables[@]}" \
	unshare --root="$root" --wd=/var/lib/orgmem --setgid 65532 --setuid 65532 $emulator "${command[@]}"
