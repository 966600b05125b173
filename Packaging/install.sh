#!/bin/sh
# Installs pawl from this folder, or removes what it installed.
# usage: ./install.sh [PREFIX]           default ~/.local, /usr/local for root
#        ./install.sh --uninstall [PREFIX]
# No service is started or enabled; downloads, queues and settings are never touched.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
removes=
if [ "${1:-}" = --uninstall ]; then
    removes=yes
    shift
fi
if [ "$(id -u)" = 0 ]; then usual=/usr/local; else usual=$HOME/.local; fi
prefix=${1:-$usual}
list=$prefix/lib/pawl/installed-files

uninstall() {
    [ -f "$list" ] || { echo "install.sh: pawl is not installed in $prefix" >&2; exit 1; }
    while IFS= read -r file; do rm -f -- "$prefix/$file"; done <"$list"
    rm -f -- "$list" "$prefix/lib/pawl/uninstall.sh"
    find "$prefix/lib/pawl" "$prefix/share/doc/pawl" -depth -type d -exec rmdir {} \; 2>/dev/null || true
}

if [ -n "$removes" ]; then
    uninstall
    echo "removed pawl from $prefix; downloads, queues and settings stay"
    exit 0
fi

# An older version may have had files that this one has not.
if [ -f "$list" ]; then uninstall; fi
mkdir -p "$prefix/lib/pawl"
(cd "$here" && find bin lib share -type f | LC_ALL=C sort) | while IFS= read -r file; do
    mkdir -p "$prefix/$(dirname "$file")"
    # A running program keeps the file that it was started from.
    cp "$here/$file" "$prefix/$file.new"
    mv -f "$prefix/$file.new" "$prefix/$file"
    echo "$file" >>"$list"
done
sed "s|^removes=\$|removes=yes|; s|^prefix=.*|prefix=\$(CDPATH='' cd -- \"\$here/../..\" \\&\\& pwd)|" "$here/install.sh" \
    >"$prefix/lib/pawl/uninstall.sh"
chmod 755 "$prefix/lib/pawl/uninstall.sh"
"$prefix/bin/pawl" --version >/dev/null || {
    echo "install.sh: pawl does not start here; it needs Linux on x86-64 with glibc 2.36 or newer" >&2
    exit 1
}
echo "installed $("$prefix/bin/pawl" --version) in $prefix; $prefix/lib/pawl/uninstall.sh removes it"
case :$PATH: in
*:"$prefix/bin":*) ;;
*) echo "add $prefix/bin to PATH" ;;
esac
