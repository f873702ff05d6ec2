#!/bin/sh
# Installs a release of sixmark for Linux, after checking the sum of its archive: the program, nats-server, manual pages
# and completions. It asks for nothing, and changes nothing outside of the folder that it names.
#
#   install.sh [--from URL|FOLDER] [--version VERSION] [--sha256 SUM] [--to FOLDER]
#
#   --from     where the archive is: the address of releases, up to the folder that has one for each tag
#              (.../releases/download), or a folder with the archive and SHA256SUMS
#   --version  of sixmark [that of this script]
#   --sha256   the sum that the archive must have [that in SHA256SUMS, which is beside it]
#   --to       the folder above bin [/usr/local for root, else ~/.local]
set -eu

version=0.1.0
# scripts/release writes it into the script of a release.
releases=

main() {
    from=$releases sum='' to=''
    read_arguments "$@"
    [ -n "$from" ] || fail "--from is missing: the address of releases, or a folder with the archive"
    [ -n "$to" ] || to=$(usual_folder)
    machine=$(uname -m)
    case $(uname -s)/$machine in
    Linux/x86_64 | Linux/aarch64) ;;
    *) fail "there is no program for $(uname -s) on $machine: build it from the source" ;;
    esac
    name=sixmark-$version-$machine-linux
    scratch=$(mktemp -d)
    trap 'rm -rf -- "$scratch"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    get "$name.tar.xz"
    check_sum "$name.tar.xz"
    tar -xJf "$scratch/$name.tar.xz" -C "$scratch" --no-same-owner || fail "can't unpack $name.tar.xz: is xz installed?"
    "$scratch/$name/sixmark" --version >/dev/null || fail "the program does not run on this machine"
    install_files "$scratch/$name"
    say_done
}

read_arguments() {
    while [ $# -gt 0 ]; do
        case $1 in
        --from | --version | --sha256 | --to)
            [ $# -ge 2 ] || fail "$1 needs a value"
            case $1 in
            --from) from=${2%/} ;;
            --version) version=${2#v} ;;
            --sha256) sum=$2 ;;
            --to) to=$2 ;;
            esac
            shift 2
            ;;
        *) fail "no option '$1': --from, --version, --sha256, --to" ;;
        esac
    done
    case $version in
    '' | *[!0-9A-Za-z.-]*) fail "'$version' is no version: write it as in 0.2.0" ;;
    esac
}

usual_folder() {
    if [ "$(id -u)" -eq 0 ]; then
        echo /usr/local
    else
        echo "${HOME:?--to is missing, and so is HOME}/.local"
    fi
}

# Fetches a file of the release.
get() {
    case $from in
    http://* | https://*) download "$from/v$version/$1" "$scratch/$1" ;;
    *) cp -- "$from/$1" "$scratch/$1" || fail "there is no $1 in $from" ;;
    esac
}

download() {
    if command -v curl >/dev/null; then
        curl --fail --silent --show-error --location --retry 3 --output "$2" "$1" || fail "can't download $1"
    elif command -v wget >/dev/null; then
        wget --quiet --output-document="$2" "$1" || fail "can't download $1"
    else
        fail "neither curl nor wget is installed"
    fi
}

check_sum() {
    if [ -z "$sum" ]; then
        get SHA256SUMS
        sum=$(awk -v file="$1" '$2 == file || $2 == "*" file { print $1 }' "$scratch/SHA256SUMS")
        [ -n "$sum" ] || fail "SHA256SUMS does not name $1: nothing is installed"
    fi
    found=$(sha256sum "$scratch/$1")
    found=${found%% *}
    [ "$found" = "$sum" ] || fail "$1 has the checksum $found, not $sum: nothing is installed"
}

install_files() {
    put 755 "$1/sixmark" bin/sixmark
    put 755 "$1/nats-server" lib/sixmark/nats-server
    for page in "$1"/man/*; do
        put 644 "$page" "share/man/man1/${page##*/}"
    done
    put 644 "$1/completions/sixmark.bash" share/bash-completion/completions/sixmark
    put 644 "$1/completions/_sixmark" share/zsh/site-functions/_sixmark
    put 644 "$1/completions/sixmark.fish" share/fish/vendor_completions.d/sixmark.fish
    for file in "$1"/licenses/*; do
        put 644 "$file" "share/doc/sixmark/${file##*/}"
    done
}

# Puts a file into its place by renaming, so that a program that is running goes on with the old one.
put() {
    mkdir -p -- "$to/${3%/*}" || fail "can't make $to/${3%/*}: name another folder with --to"
    { cp -- "$2" "$to/$3.new" && chmod "$1" "$to/$3.new" && mv -f -- "$to/$3.new" "$to/$3"; } ||
        fail "can't write $to/$3"
}

say_done() {
    echo "$("$to/bin/sixmark" --version) is in $to/bin"
    case :$PATH: in
    *:"$to/bin":*) ;;
    *) echo "PATH lacks $to/bin" ;;
    esac
}

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

main "$@"
