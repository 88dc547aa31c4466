# SPDX-License-Identifier: MIT
# Installs what a job of ./dev needs: Debian packages with apt, Python packages into .venv. Sourced by ./dev.
# shellcheck shell=bash disable=SC2154,SC2034
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif [ -t 0 ] && [ -z "${CI:-}" ]; then sudo "$@"
    else sudo -n "$@"    # nobody is there to type a password
    fi
}

apt_install() {    # apt_install PACKAGE...: installs them, if no other package has to be removed for it
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-remove --no-install-recommends "${options[@]}" "$@"
}

need() {    # need PACKAGE...: installs those that are missing
    local package missing=()
    [ "$install" = yes ] || return 0
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        die "this is not a Debian-like system, so I cannot install what I need. By Debian's names: $*.
     Install these with your system's package manager, then run ./dev --no-install ..."
    fi
    for package in $(printf '%s\n' "$@" | sort -u); do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    say "installing with apt: ${missing[*]}"
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        die "you are not root and there is no sudo. Ask root to run: apt-get install ${missing[*]}"
    fi
    mkdir -p build/log
    local log=build/log/apt.log options=(-o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 -o Acquire::Retries=2)
    as_root true </dev/null 2>/dev/null || as_root true || die "sudo refused. Run: apt-get install ${missing[*]}"
    as_root apt-get update "${options[@]}" </dev/null >"$log" 2>&1 || true    # an old list may do; install will tell
    if ! apt_install "${missing[@]}" </dev/null >>"$log" 2>&1; then
        # What conflicts with a package of this machine is left out: nothing is ever removed.
        local possible=() left_out=()
        for package in "${missing[@]}"; do
            if apt-get install --simulate --no-remove --no-install-recommends "$package" </dev/null >>"$log" 2>&1; then
                possible+=("$package")
            else
                left_out+=("$package")
            fi
        done
        if [ ${#left_out[@]} -gt 0 ] && grep -q 'remove is disabled' "$log"; then
            say "left out, because they conflict with packages that are installed here: ${left_out[*]}"
            [ ${#possible[@]} -gt 0 ] || return 0
            if apt_install "${possible[@]}" </dev/null >>"$log" 2>&1; then return 0; fi
        fi
        grep -E '^(E|W|Err):?' "$log" | tail -n 8 >&2 || tail -n 8 "$log" >&2
        if grep -qE 'Could not resolve|Could not connect|Temporary failure|Failed to fetch|Unable to connect' "$log"; then
            die "apt could not reach its servers: is there a network? (all of its output: $log)"
        fi
        die "apt failed (all of its output: $log). Headroom needs Debian 12 or a system as new"
    fi
}

python=
need_python() {    # the report's Python packages, in .venv; made anew only when their list has changed
    [ -f "$requirements" ] || return 0
    python=$root/.venv/bin/python
    if [ "$install" = no ]; then    # whatever it was made from: without a network there may be no other
        if [ ! -x "$python" ]; then
            python=
            say "there is no .venv, and --no-install makes none: what needs its Python is left out"
        fi
        return
    fi
    local wanted
    wanted=$(sha256sum <"$requirements")$root
    if [ -x "$python" ] && [ "$(cat .venv/made-from 2>/dev/null)" = "$wanted" ]; then return 0; fi
    need "${packages_python[@]}"
    local system=/usr/bin/python3    # the one whose venv module was just made sure of
    [ -x "$system" ] || system=$(command -v python3) || die "python3 is missing"
    say "making .venv with: $(listed "$requirements")"
    mkdir -p build/log
    rm -rf .venv
    "$system" -m venv .venv >build/log/venv.log 2>&1 || { cat build/log/venv.log >&2; die "python3 -m venv failed"; }
    pip_install "$requirements"
    printf '%s' "$wanted" >.venv/made-from
}

add_python() {    # add_python NAME FILE: what the file lists, in the same .venv; its NAME tells whether that has been done
    need_python
    [ "$install" = yes ] || return 0
    local made=.venv/made-from-$1 wanted
    wanted=$(sha256sum <"$2")
    if [ "$(cat "$made" 2>/dev/null)" = "$wanted" ]; then return 0; fi
    say "adding to .venv: $(listed "$2")"
    mkdir -p build/log
    pip_install "$2"
    printf '%s' "$wanted" >"$made"
}
need_test_python() { add_python tests tests/requirements.txt; }    # what tests of packages and documentation use
need_zig() { add_python everywhere tests/requirements-everywhere.txt; }    # a compiler for macOS and FreeBSD, half a gigabyte

listed() { grep -vE '^ *(#|$)' "$1" | tr '\n' ' '; }

pip_install() {
    if ! "$python" -m pip install --quiet -r "$1" </dev/null >build/log/pip.log 2>&1; then
        tail -n 3 build/log/pip.log >&2
        if grep -q CERTIFICATE_VERIFY_FAILED build/log/pip.log; then
            die "pip does not trust what answers it, perhaps a proxy: set PIP_CERT to the file of its certificate"
        fi
        die "pip could not install Python packages: is there a network? (all of its output: build/log/pip.log)"
    fi
}
