# SPDX-License-Identifier: MIT
# Configures and builds presets of CMakePresets.json. Sourced by ./dev.
# shellcheck shell=bash disable=SC2154,SC2034
# logged NAME COMMAND...: output goes to build/log/NAME.log; on failure its telling end is shown.
logged() {
    local log=build/log/$1.log status=0
    shift
    { mkdir -p build/log && : >"$log"; } 2>/dev/null || die "cannot write $root/$log. The sources must lie in a folder that is yours, with room"
    "$@" </dev/null >"$log" 2>&1 || status=$?
    if [ $status != 0 ]; then
        printf 'dev: failed: %s\n' "$*" >&2
        if ! grep -E '(error|Error)\b' "$log" | cut -c1-400 | head -n 20 >&2; then tail -n 20 "$log" >&2; fi
        printf '(all of its output: %s)\n' "$log" >&2
    fi
    return $status
}

configure() {    # configure PRESET [FLAG...]
    if [ "$1" = msan ]; then    # its C++ library first, whose sources pip brings
        [ -n "$python" ] || need_python
        logged msan-runtime "${python:-python3}" scripts/msan_runtime.py build/msan-runtime || return 1
    fi
    logged "configure-$1" cmake --preset "$1" "${@:2}"
}
# compile PRESET ARGUMENT..., compile_in FOLDER ARGUMENT...: as `logged`, and say from time to time how far it is.
compile() { build_logged "$1" --preset "$1" --parallel "$jobs" "${@:2}"; }
compile_in() { build_logged "${1##*/}" "$1" --parallel "$jobs" "${@:2}"; }
build_logged() {
    local log=build/log/build-$1.log watcher status=0
    mkdir -p build/log
    : >"$log"
    watch_steps "$log" &
    watcher=$!
    logged "build-$1" cmake --build "${@:2}" || status=$?
    kill "$watcher" 2>/dev/null || true
    wait "$watcher" 2>/dev/null || true
    [ ! -t 1 ] || printf '\r%-40s\r' ''
    return $status
}

# On a terminal one line that counts; elsewhere a line every half minute.
watch_steps() {
    local step pause=30
    if [ -t 1 ]; then pause=2; fi
    # Kept from our output: the last pause outlives who began it, and a reader of a pipe would wait for it.
    while sleep "$pause" >/dev/null 2>&1; do
        step=$(grep -aoE '^\[[0-9]+/[0-9]+\]' "$1" | tail -n 1) || continue
        if [ -t 1 ]; then printf '\r   compiling %-20s' "$step"; else printf '   compiling %s\n' "$step"; fi
    done
}

# Every name that `./dev build` and `./dev test --only` take, from the one list there is.
known_preset() {    # known_preset KIND NAME, with KIND build or test
    sed -n "/\"${1}Presets\"/,/^  \]/p" CMakePresets.json | grep -v '"hidden": true' | grep -qF "{\"name\": \"$2\","
}
preset_names() {
    sed -n "/\"${1}Presets\"/,/^  \]/p" CMakePresets.json | grep -v '"hidden": true' |
        sed -nE 's/.*\{"name": "([^"]+)".*/\1/p' | tr '\n' ' '
}

# The folder's preset: Valgrind runs the programs of dev.
configured_as() { case $1 in valgrind) echo dev ;; aarch64-64k) echo aarch64 ;; *) echo "$1" ;; esac; }

# Whether the system can start such a program at all; one that is missing is another fault.
runs_here() {
    local status=0
    "$1" --gtest_list_tests >/dev/null 2>&1 </dev/null || status=$?
    [ $status != 126 ]
}

# True if there is a folder with MSVC and the Windows kits. It is Microsoft's, and nothing here fetches it.
has_msvc() { [ -n "${HEADROOM_MSVC:-}" ] && [ -d "$HEADROOM_MSVC/VC/Tools/MSVC" ] && [ -d "$HEADROOM_MSVC/Windows Kits/10" ]; }

among() { local each; for each in "${@:2}"; do [ "$each" != "$1" ] || return 0; done; return 1; }    # among X LIST...

need_for() {    # need_for PRESET: what it is built with
    case $1 in
        clang) need "${packages_fast[@]}" "${packages_tools[@]}" ;;
        *san*) need "${packages_fast[@]}" libclang-rt-19-dev llvm-19 ;;
        library) need g++ cmake make ;;
        release) need "${packages_lab[@]}" ;;
        tools) need "${packages_fast[@]}" "${packages_tools[@]}" "${packages_lab[@]}" ;;
        gcc) need "${packages_tools[@]}" ;;
        clang-libcxx) need "${packages_fast[@]}" libc++-19-dev libc++abi-19-dev ;;
        msan) need "${packages_fast[@]}" "${packages_python[@]}" libclang-rt-19-dev llvm-19 ;;
        msvc | clang-cl)
            has_msvc || die "HEADROOM_MSVC is to name a folder with VC/Tools/MSVC and \"Windows Kits/10\" (docs/platforms.md)"
            need "${packages_msvc[@]}" ;;
        i686) need "${packages_fast[@]}" g++-i686-linux-gnu ;;
        *) need "${packages_fast[@]}" ;;
    esac
}

command_build() {
    [ $# -le 1 ] || misused "build takes one preset"
    local preset=${1:-dev}
    known_preset build "$preset" || misused "there is no preset $preset to build. There are: $(preset_names build)"
    need_for "$preset"
    configure "$preset"
    compile "$preset"
    say "built in build/$(configured_as "$preset")"
}
