# Configures and builds presets of CMakePresets.json. Sourced by ./dev.
# logged NAME COMMAND...: output goes to build/log/NAME.log; on failure its telling end is shown.
logged() {
    local log=build/log/$1.log status=0
    shift
    mkdir -p build/log
    "$@" </dev/null >"$log" 2>&1 || status=$?
    if [ $status != 0 ]; then
        printf 'dev: failed: %s\n' "$*" >&2
        if ! grep -E '(error|Error)\b' "$log" | cut -c1-400 | head -n 20 >&2; then tail -n 20 "$log" >&2; fi
        printf '(all of its output: %s)\n' "$log" >&2
    fi
    return $status
}

configure() {
    if [ "$1" = msan ]; then    # its C++ library first, whose sources pip brings
        [ -n "$python" ] || need_python
        logged msan-runtime "$python" scripts/msan_runtime.py build/msan-runtime || return 1
    fi
    logged "configure-$1" cmake --preset "$1"
}
compile() { logged "build-$1" cmake --build --preset "$1" --parallel "$jobs" "${@:2}"; }

# The folder's preset: Valgrind runs the programs of dev.
configured_as() { case $1 in valgrind) echo dev ;; aarch64-64k) echo aarch64 ;; *) echo "$1" ;; esac; }

# Whether the system can start such a program at all; one that is missing is another fault.
runs_here() {
    local status=0
    "$1" --gtest_list_tests >/dev/null 2>&1 </dev/null || status=$?
    [ $status != 126 ]
}

among() { local each; for each in "${@:2}"; do [ "$each" != "$1" ] || return 0; done; return 1; }    # among X LIST...

command_build() {
    [ $# -le 1 ] || misused "build takes one preset"
    local preset=${1:-dev}
    case $preset in
        release) need "${packages_lab[@]}" ;;
        clang-libcxx) need "${packages_fast[@]}" clang-19 libc++-19-dev libc++abi-19-dev ;;
        msan) need "${packages_fast[@]}" "${packages_python[@]}" clang-19 libclang-rt-19-dev llvm-19 ;;
        clang*) need "${packages_fast[@]}" clang-19 ;;
        i686) need "${packages_fast[@]}" g++-i686-linux-gnu ;;
        *) need "${packages_fast[@]}" ;;
    esac
    configure "$preset"
    compile "$preset"
    say "built in build/$preset"
}
