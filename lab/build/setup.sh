#!/bin/sh
# setup.sh LEVEL - what this machine needs for LEVEL: "run" (build and boot), "iso", "playground" (the page of ./cw playground),
# "book" (the book's PDF and its pictures), "grader" (./cw grade), "test" (all these and more), or "compare" (run, and the hash
# libraries that libchainhash is compared with).
#
# Looks for each program; on Debian and Ubuntu installs the packages that are missing (saying which first,
# with sudo where needed), elsewhere prints the list for dnf, pacman or brew. Then checks versions.
set -eu

level=${1:-run}

# program or file | Debian package | dnf | pacman | brew
needs_run='
gcc|gcc|gcc|gcc|x86_64-elf-gcc
ld|binutils|binutils|binutils|x86_64-elf-binutils
/usr/include/stdio.h|libc6-dev|glibc-devel|glibc|-
/usr/include/linux/types.h|linux-libc-dev|kernel-headers|linux-api-headers|-
musl-gcc|musl-tools|musl-gcc|musl|filosottile/musl-cross/musl-cross
qemu-system-x86_64|qemu-system-x86|qemu-system-x86-core|qemu-system-x86|qemu
busybox-static|busybox-static|busybox|busybox|-
mke2fs|e2fsprogs|e2fsprogs|e2fsprogs|e2fsprogs
python3|python3|python3|python|python@3.12
python3-venv|python3-venv|python3|python|python@3.12
'
needs_iso='
grub-mkrescue|grub-common|grub2-tools-extra|grub|-
/usr/lib/grub/i386-pc/modinfo.sh|grub-pc-bin|grub2-pc-modules|grub|-
/usr/lib/grub/x86_64-efi/modinfo.sh|grub-efi-amd64-bin|grub2-efi-x64-modules|grub|-
xorriso|xorriso|xorriso|libisoburn|xorriso
mformat|mtools|mtools|mtools|mtools
'
needs_playground='
clang|clang|clang|clang|llvm
wasm-ld|lld|lld|lld|lld
'
needs_book='
chromium|chromium|chromium|chromium|-
dot|graphviz|graphviz|graphviz|graphviz
'
needs_grader='
bwrap|bubblewrap|bubblewrap|bubblewrap|-
'
needs_test='
ovmf|ovmf|edk2-ovmf|edk2-ovmf|-
gdb|gdb|gdb|gdb|x86_64-elf-gdb
clang-rt|libclang-rt-dev|compiler-rt|compiler-rt|llvm
clang-format|clang-format|clang-tools-extra|clang|clang-format
'

needs_compare='
/usr/include/ndbm.h|libgdbm-compat-dev|gdbm-devel|gdbm|-
/usr/include/gdbm.h|libgdbm-dev|gdbm-devel|gdbm|gdbm
/usr/include/apr-1.0/apr_sdbm.h|libaprutil1-dev|apr-util-devel|apr-util|apr-util
/usr/include/db.h|libdb5.3-dev|libdb-devel|db5.3|berkeley-db@5
/usr/include/tdb.h|libtdb-dev|libtdb-devel|tdb|-
/usr/include/lmdb.h|liblmdb-dev|lmdb-devel|lmdb|lmdb
/usr/include/tchdb.h|libtokyocabinet-dev|tokyocabinet-devel|tokyocabinet|tokyo-cabinet
'

present() {
	case $1 in
	/*) [ -e "$1" ] ;;
	python3-venv) python3 -c 'import ensurepip, venv' 2>/dev/null ;;
	busybox-static) busybox_is_static ;;
	ovmf) [ -e /usr/share/ovmf/OVMF.fd ] || [ -e /usr/share/OVMF/OVMF_CODE.fd ] ||
		[ -e /usr/share/edk2/ovmf/OVMF_CODE.fd ] || [ -e /usr/share/edk2/x64/OVMF_CODE.fd ] ;;
	chromium) command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 ||
		command -v google-chrome >/dev/null 2>&1 || chromium_is_no_package ;;
	clang-rt) [ -n "$(find /usr/lib /usr/lib64 -name 'libclang_rt.asan*.a' -print -quit 2>/dev/null)" ] ;;
	*) command -v "$1" >/dev/null 2>&1 ;;
	esac
}

busybox_is_static() {
	[ -x /bin/busybox ] && ! ldd /bin/busybox >/dev/null 2>&1
}

# Ubuntu has it as a snap only; the tests that want a browser are skipped where there is none.
chromium_is_no_package() {
	grep -qx 'ID=ubuntu' /etc/os-release 2>/dev/null
}

# Print column $1 of every need that is absent.
missing() {
	printf '%s\n' "$needs" | while IFS='|' read -r what debian dnf pacman brew; do
		[ -n "$what" ] || continue
		present "$what" && continue
		case $1 in
		debian) printf '%s ' "$debian" ;;
		dnf) printf '%s ' "$dnf" ;;
		pacman) printf '%s ' "$pacman" ;;
		brew) [ "$brew" = - ] || printf '%s ' "$brew" ;;
		esac
	done
}

install_debian() {
	packages=$(missing debian)
	# The sanitizer's library is named by version before Debian 13.
	case $packages in *libclang-rt-dev*)
		apt-cache show libclang-rt-dev >/dev/null 2>&1 || {
			version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -n 1)
			packages=$(printf '%s' "$packages" | sed "s/libclang-rt-dev/libclang-rt-${version:-14}-dev/")
		} ;;
	esac
	echo "Installing packages: $packages"
	if [ "$(id -u)" = 0 ]; then
		sudo=
	elif command -v sudo >/dev/null 2>&1; then
		sudo=sudo
		echo "(with sudo; you may be asked for your password)"
	else
		echo "setup: not root and no sudo. As root, run: apt-get install $packages" >&2
		exit 1
	fi
	$sudo apt-get update -q
	# shellcheck disable=SC2086 # a list of words
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $packages
}

print_lists() {
	echo "setup: this machine lacks some packages. Install them, then run the command again:" >&2
	if command -v dnf >/dev/null 2>&1; then
		echo "  sudo dnf install $(missing dnf)" >&2
	elif command -v pacman >/dev/null 2>&1; then
		echo "  sudo pacman -S $(missing pacman)" >&2
	elif command -v brew >/dev/null 2>&1; then
		echo "  brew install $(missing brew)" >&2
		echo "  and: make CROSS_COMPILE=x86_64-elf-" >&2
	else
		echo "  (by their Debian names) $(missing debian)" >&2
		echo "  dnf:    $(missing dnf)" >&2
		echo "  pacman: $(missing pacman)" >&2
		echo "  brew:   $(missing brew)" >&2
	fi
	exit 1
}

# at_least NAME FOUND WANTED PACKAGE
at_least() {
	lowest=$(printf '%s\n%s\n' "$2" "$3" | sort -V | head -n 1)
	if [ "$lowest" != "$3" ]; then
		echo "setup: $1 is version ${2:-unknown}; $3 or newer is needed (package $4)" >&2
		exit 1
	fi
}

version_of() {
	"$@" 2>/dev/null | head -n 1 | grep -o '[0-9][0-9]*\.[0-9][0-9.]*' | head -n 1
}

check_versions() {
	[ "$level" != playground ] && [ "$level" != test ] || at_least wasm-ld "$(version_of wasm-ld --version)" 13.0 lld
	[ "$level" != grader ] && [ "$level" != test ] || at_least bwrap "$(version_of bwrap --version)" 0.8 bubblewrap
	[ "$level" != playground ] && [ "$level" != book ] || return 0
	at_least "${CC:-gcc}" "$(${CC:-gcc} -dumpfullversion 2>/dev/null)" 10 gcc
	at_least ld "$(version_of ld --version)" 2.35 binutils
	at_least qemu-system-x86_64 "$(version_of qemu-system-x86_64 --version)" 6.2 qemu-system-x86
	at_least mke2fs "$(mke2fs -V 2>&1 | grep -o '[0-9][0-9]*\.[0-9][0-9.]*' | head -n 1)" 1.45 e2fsprogs
	at_least python3 "$(version_of python3 --version)" 3.11 python3
	at_least make "$(version_of make --version)" 4.2 make
	[ "$level" = run ] || [ "$level" = grader ] || [ "$level" = compare ] || at_least grub-mkrescue "$(version_of grub-mkrescue --version)" 2.04 grub-common
}

# Debian keeps mke2fs where an ordinary user's PATH does not look.
PATH=$PATH:/usr/sbin:/sbin
[ -z "${CROSS_COMPILE:-}" ] || CC=${CROSS_COMPILE}gcc

case $level in
run) needs=$needs_run ;;
iso) needs=$needs_run$needs_iso ;;
playground) needs=$needs_playground ;;
book) needs=$needs_book ;;
grader) needs=$needs_run$needs_grader ;;
test) needs=$needs_run$needs_iso$needs_playground$needs_book$needs_grader$needs_test ;;
compare) needs=$needs_run$needs_compare ;;
*)
	echo "usage: setup.sh run|iso|playground|book|grader|test|compare" >&2
	exit 2
	;;
esac

if [ -n "$(missing debian)" ]; then
	if command -v apt-get >/dev/null 2>&1; then
		install_debian
	else
		print_lists
	fi
	still=$(missing debian)
	[ -z "$still" ] || { echo "setup: still missing: $still" >&2; exit 1; }
fi
check_versions
