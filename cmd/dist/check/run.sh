#!/usr/bin/env bash
# What `make dist-check` does with what `make dist` has made: installs, starts, asks, stops, removes.
# Needs root, for namespaces and packages of Debian. Parts that are named run alone:
#   cmd/dist/check/run.sh dist [sums] [again] [debian] [rpm] [image] [arm64]
set -euo pipefail
cd "$(dirname "$0")/../../.."
here=$PWD/cmd/dist/check
dist=$(realpath "${1:?where dist is}")
shift
parts=" ${*:-sums again debian rpm image arm64} "
work=$(mktemp -d)
pids=()
passed=0

cleanup() {
	local pid
	for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
	wait 2>/dev/null || true
	# What ran in the namespaces ends a moment after their first process.
	[ -z "${group:-}" ] || wait_for 5 empty || true
	[ ! -d "$work/again" ] || git worktree remove --force "$work/again" || true
	chmod -R u+w "$work" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT

empty() { find "$group" -depth -type d -exec rmdir {} \; ; [ ! -d "$group" ]; }
fail() { echo "FAIL: $*" >&2; exit 1; }
ok() { passed=$((passed + 1)); echo "ok    $*"; }
now() { date +%s%3N; }
has() { [[ $parts == *" $1 "* ]]; }
need() { # PROGRAM PACKAGE...
	command -v "$1" >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
		--no-install-recommends "${@:2}" >/dev/null; }
}

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

# first_answer RUN...: makes an organization, takes a text in and finds it. RUN is what to put
# before a command so that it sees the service, its data and curl.
first_answer() {
	key=$("$@" orgmem org create --data /var/lib/orgmem --name Acme --owner-email ann@example.org --json |
		sed -n 's/.*"apiKey":"\([^"]*\)".*/\1/p')
	[ -n "$key" ] || fail "no key was made"
	"$@" curl -sf -o /dev/null -H "X-Svc-API-Key: $key" -H 'Content-Type: application/json' \
		-d '{"content":"The boiler was serviced in May."}' http://127.0.0.1:8080/v1/ingest || fail "nothing is taken in"
	found() {
		"$@" curl -sf -H "X-Svc-API-Key: $key" -H 'Content-Type: application/json' \
			-d '{"query":"who looked after the heating?"}' http://127.0.0.1:8080/v1/search | grep -q boiler
	}
	wait_for 60 found "$@" || fail "what was taken in is not found"
}

sums() {
	(cd "$dist" && sha256sum --quiet -c SHA256SUMS) || fail "sums"
	ok "SHA256SUMS hold"
	ORGMEM_DIST=$dist go -C cmd/dist test -run TestReleasedBills -count 1 . >/dev/null || fail "a bill of materials"
	ok "bills of materials keep to the schema of CycloneDX 1.6"
	need mandoc mandoc
	tar -xzOf "$dist"/orgmem_*_linux_amd64.tar.gz --wildcards '*/man/orgmem.1' | mandoc -Tlint -W error || fail "orgmem(1)"
	tar -xzOf "$dist"/orgmem_*_linux_amd64.tar.gz --wildcards '*/man/orgmem.toml.5' | mandoc -Tlint -W error ||
		fail "orgmem.toml(5)"
	ok "mandoc takes both pages"
	local file
	for file in "$dist"/orgmem_*_linux_*.tar.gz; do
		tar -xzf "$file" -C "$work" --wildcards --strip-components 1 '*/orgmem'
		! readelf -l "$work/orgmem" | grep -q INTERP || fail "$file is not static"
	done
	ok "the binaries for Linux are static"
}

# A second build, in another folder, with an empty cache, another umask, another zone and language.
again() {
	[ -z "$(git status --porcelain)" ] || fail "commit first: the second build is one of what is committed"
	local begin modules
	modules=$(go env GOMODCACHE)
	begin=$(now)
	git worktree add --quiet --detach "$work/again" HEAD
	(cd "$work/again" && umask 077 && GOCACHE="$work/cache" TZ=Asia/Tokyo LC_ALL=C HOME="$work" \
		GOMODCACHE="$modules" go -C cmd/dist run . -root ../.. -out "$work/second") >/dev/null
	diff "$dist/SHA256SUMS" "$work/second/SHA256SUMS" || fail "the second build differs"
	ok "a second build, cold, has the same bytes ($((($(now) - begin) / 1000)) s)"
	rm -rf "$work/second"
}

# A minimal Debian 12. DEBIAN_TAR may name one that was made before.
debian_tar() {
	[ ! -f "${DEBIAN_TAR:-}" ] || return 0
	need mmdebstrap mmdebstrap
	DEBIAN_TAR=$work/debian.tar
	mmdebstrap --quiet --variant=minbase --include=systemd,systemd-sysv,dbus,ca-certificates,curl,openssl bookworm \
		"$DEBIAN_TAR" || fail "no Debian could be made"
}

# Debian 12 with systemd as process 1, in namespaces.
boot() {
	debian_tar
	root=$work/debian
	mkdir "$root" && tar -xf "$DEBIAN_TAR" -C "$root"
	group=/sys/fs/cgroup/orgmem-dist-$$
	[ "$(stat -f -c %T /sys/fs/cgroup)" = cgroup2fs ] || group=/sys/fs/cgroup/unified/orgmem-dist-$$
	mkdir "$group"
	bash -c 'echo $$ >"$1/cgroup.procs"; exec unshare --pid --mount --uts --ipc --net --cgroup --fork --kill-child \
		bash "$2/boot.sh" "$3"' - "$group" "$here" "$root" >"$work/console" 2>&1 </dev/null &
	local outer=$!
	pids+=("$outer")
	wait_for 20 pgrep -P "$outer" || fail "no namespaces: $(cat "$work/console")"
	init=$(pgrep -P "$outer")
	pids+=("$init")
	wait_for 60 booted || fail "Debian does not come up: $(tail -5 "$work/console")"
}
inside() {
	nsenter --target "$init" --mount --uts --ipc --net --pid --cgroup --root --wdns=/ \
		env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
booted() { inside systemctl is-active multi-user.target; }

# snapshot tells every file of the root but logs, caches and what dpkg notes, and who is known.
snapshot() {
	inside find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /var/log \
		-o -path /var/cache \
		-o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/lib/systemd -o -path /.old \) -prune -o -print |
		grep -vE '^/etc/(passwd|group|shadow|gshadow|subuid|subgid)-$|^/etc/.pwd.lock$' | sort
	inside cat /etc/passwd /etc/group /etc/subuid | sort
}

debian() {
	boot
	ok "Debian 12 runs, systemd is process 1 ($(inside systemctl --version | head -1))"
	snapshot >"$work/before"
	local deb begin ready
	deb=$(basename "$dist"/orgmem_*_amd64.deb)
	cp "$dist/$deb" "$root/tmp.deb" && mv "$root/tmp.deb" "$root/orgmem.deb"

	begin=$(now)
	inside apt-get install -y -qq /orgmem.deb >"$work/apt" 2>&1 || fail "apt: $(tail -5 "$work/apt")"
	ok "apt install ($(($(now) - begin)) ms)"
	inside systemctl is-active --quiet orgmem && fail "it runs without having been asked"
	begin=$(now)
	inside systemctl start orgmem || fail "start: $(inside journalctl -u orgmem -n 20)"
	ready=$(($(now) - begin))
	first_answer inside
	inside env ORGMEM_API_KEY="$key" orgmem search who looked after the heating | grep -q boiler || fail "orgmem search"
	ok "systemctl start returns when it is ready ($ready ms), the first answer after $(($(now) - begin)) ms"

	local pid
	pid=$(inside systemctl show -P MainPID orgmem)
	[ "$(inside stat -c %U "/proc/$pid")" = orgmem ] || fail "it is not run by orgmem"
	inside grep -q '^NoNewPrivs:.*1$' "/proc/$pid/status" || fail "it could gain privileges"
	inside grep -qE '^CapEff:\s*0+$' "/proc/$pid/status" || fail "it has capabilities"
	inside grep -q '^Seccomp:.*2$' "/proc/$pid/status" || fail "it may call everything"
	[ "$(inside stat -c '%a %U' /var/lib/orgmem)" = "700 orgmem" ] || fail "the data directory is open"
	ok "it runs as orgmem, without capabilities, behind a filter of system calls"
	inside orgmem config check /etc/orgmem/orgmem.toml >/dev/null || fail "the file of settings"
	inside systemd-analyze verify --man=no /usr/lib/systemd/system/orgmem.service || fail "systemd-analyze verify"
	ok "systemd-analyze verify; security: $(inside systemd-analyze security orgmem | tail -1 | grep -oE '[0-9.]+ [A-Z]+')"

	# A certificate that only root may read, as a credential; and what was settled stays settled.
	inside openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
		-addext subjectAltName=IP:127.0.0.1 -keyout /key.pem -out /cert.pem 2>/dev/null
	inside install -D -m 600 /cert.pem /etc/credstore/orgmem.tls-cert
	inside install -D -m 600 /key.pem /etc/credstore/orgmem.tls-key
	inside systemctl restart orgmem || fail "restart: $(inside journalctl -u orgmem -n 20)"
	inside curl -sf --cacert /cert.pem https://127.0.0.1:8080/openapi.json >/dev/null || fail "the credential is not used"
	ok "a certificate that root alone may read is used, as a credential"
	inside rm -rf /etc/credstore /key.pem /cert.pem

	# Killed, it comes back by itself; stopped, it ends within its time and by itself.
	inside systemctl restart orgmem
	inside systemctl kill --signal=KILL orgmem
	back() { inside curl -sf http://127.0.0.1:8081/readyz && [ "$(inside systemctl show -P NRestarts orgmem)" = 1 ]; }
	wait_for 60 back || fail "killed, it stays away"
	begin=$(now)
	inside systemctl stop orgmem
	[ "$(inside systemctl show -P Result orgmem)" = success ] || fail "the stop: $(inside systemctl show -P Result orgmem)"
	ok "killed, it comes back; a stop takes $(($(now) - begin)) ms"

	# Another start in the same place: an upgrade restarts what runs, and keeps what was changed.
	inside systemctl enable --now --quiet orgmem
	inside sh -c 'echo "log-format = \"json\"" >>/etc/orgmem/orgmem.toml'
	pid=$(inside systemctl show -P MainPID orgmem)
	inside env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --reinstall /orgmem.deb >"$work/apt" 2>&1 ||
		fail "reinstall: $(tail -5 "$work/apt")"
	[ "$(inside systemctl show -P MainPID orgmem)" != "$pid" ] || fail "the old program still runs"
	inside systemctl is-active --quiet orgmem || fail "after an upgrade it does not run"
	inside grep -q '^log-format' /etc/orgmem/orgmem.toml || fail "an upgrade overwrites settings"
	[ "$(inside orgmem org list --data /var/lib/orgmem --json | grep -c Acme)" = 1 ] || fail "an upgrade loses data"
	ok "an upgrade restarts it, with its settings and its data"

	inside apt-get remove -y -qq orgmem >"$work/apt" 2>&1 || fail "remove: $(tail -5 "$work/apt")"
	inside systemctl is-active --quiet orgmem && fail "removed, it runs"
	inside test -d /var/lib/orgmem/stores || fail "a removal takes the data"
	inside apt-get purge -y -qq orgmem >"$work/apt" 2>&1 || fail "purge: $(tail -5 "$work/apt")"
	inside rm -f /orgmem.deb
	snapshot >"$work/after"
	diff "$work/before" "$work/after" || fail "a purge leaves something"
	ok "removed, the data stays; purged, nothing is left"
	kill -9 "$init"
}

# Into a root of Debian, since no distribution with RPM can be had here: what the scripts do is the
# same.
rpm_package() {
	need rpm rpm
	debian_tar
	local package other=$work/rpm
	package=$(echo "$dist"/orgmem-*.x86_64.rpm)
	mkdir "$other" && tar -xf "$DEBIAN_TAR" -C "$other"
	rpm --root "$other" --initdb
	rpm --quiet --root "$other" --nodeps -i "$package" || fail "rpm -i"
	chroot "$other" orgmem version >/dev/null || fail "the program of the package"
	[ "$(chroot "$other" stat -c '%U %a' /var/lib/orgmem)" = "orgmem 700" ] || fail "the data directory is open"
	[ "$(chroot "$other" stat -c '%U:%G %a' /etc/orgmem/orgmem.toml)" = "root:orgmem 640" ] || fail "the settings' mode"
	rpm --quiet --root "$other" -e orgmem || fail "rpm -e"
	[ ! -e "$other/usr/bin/orgmem" ] && [ ! -e "$other/usr/lib/systemd/system/orgmem.service" ] || fail "the program stays"
	ok "rpm installs and removes it (in a root of Debian)"
	rm -rf "$other"
}

# image ARCHITECTURE [EMULATOR]: the image's layers, unpacked and mounted read-only, run by the image's user, with its
# variables and its command, in namespaces.
image() {
	local architecture=$1 emulator=${2:-} lay=$work/layout-$1 root=$work/image-$1 config=$work/image-$1.json begin outer
	mkdir "$lay" "$root" && tar -xf "$dist"/orgmem_*_oci.tar -C "$lay"
	python3 "$here/unpack.py" "$lay" "$architecture" "$root" >"$config" || fail "the archive"
	rm -rf "$lay"
	[ -z "$(find "$root" -path '*bin/*' -not -name orgmem)" ] || fail "there is more than the program"
	[ "$(find "$root" -type f -perm /6000 | wc -l)" = 0 ] || fail "a program with another's rights"
	# What container engines bring.
	mkdir "$root/proc" "$root/dev"
	[ -z "$emulator" ] || cp "$emulator" "$root/emulator"
	begin=$(now)
	unshare --pid --mount --net --ipc --uts --fork --kill-child bash "$here/container.sh" "$root" "$config" \
		${emulator:+/emulator} >"$work/image.log" 2>&1 </dev/null &
	outer=$!
	pids+=("$outer")
	wait_for 240 in_image "$outer" "" curl -sf http://127.0.0.1:8081/readyz ||
		fail "it does not serve: $(tail -5 "$work/image.log")"
	first_answer in_image "$outer" "${emulator:+/emulator}"
	local pid
	pid=$(pgrep -P "$outer")
	[ "$(stat -c %u "/proc/$pid")" = 65532 ] || fail "it is run by another user"
	in_image "$outer" "${emulator:+/emulator}" orgmem version >/dev/null
	kill -TERM "$pid"
	wait "$outer" || fail "the stop: $(tail -5 "$work/image.log")"
	ok "the image for $architecture serves as 65532, its root read-only, and stops;" \
		"the first answer after $(($(now) - begin)) ms"
	rm -rf "$root"
}

# in_image OUTER EMULATOR COMMAND...: orgmem is the image's own, all else this machine's, in the image's
# network.
in_image() {
	local pid emulator=$2
	pid=$(pgrep -P "$1") || return 1
	if [ "$3" = orgmem ]; then
		nsenter --target "$pid" --mount --net --pid --root --wdns=/ --setuid 65532 --setgid 65532 \
			$emulator /usr/bin/orgmem "${@:4}"
	else
		nsenter --target "$pid" --net "${@:3}"
	fi
}

arm64() {
	need qemu-aarch64-static qemu-user-static ||
		{ echo "NOT CHECKED: arm64; no emulator could be installed"; return; }
	local emulator begin
	emulator=$(command -v qemu-aarch64-static)
	image arm64 "$emulator"
	begin=$(now)
	GOARCH=arm64 CGO_ENABLED=0 go test -short -p 2 -exec "$emulator" ${ARM64_PACKAGES:-./brain/embed/internal/kernel \
		./storage/disk ./cmd/orgmem/pages} >"$work/arm64.log" 2>&1 ||
		fail "tests: $(grep -v '^ok' "$work/arm64.log" | head -40)"
	ok "tests of the kernels, the disk and the pages pass on arm64" \
		"($(grep -c '^ok' "$work/arm64.log") packages, $((($(now) - begin) / 1000)) s)"
}

for part in sums again debian rpm image arm64; do
	has "$part" || continue
	case $part in
	rpm) rpm_package ;;
	image) image amd64 ;;
	*) $part ;;
	esac
done
echo "$passed passed, 0 failed"
