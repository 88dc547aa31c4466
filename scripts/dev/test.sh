# SPDX-License-Identifier: MIT
# ./dev test: which presets, and what each said. Sourced by ./dev.
# shellcheck shell=bash disable=SC2154,SC2034

# tests/chosen.cmake says what each of them runs, and why.
presets_fast=(dev)
presets_full=(dev tools asan-ubsan tsan i686 valgrind)
# Of i686 ./dev test builds and runs the core tests alone, and asks less of asan-ubsan than --slow, --everywhere and --only do.
# Other compilers and systems, after those; docs/platforms.md says what each is.
presets_everywhere=(release gcc clang gcc-11 clang-14 clang-15 clang-16 clang-libcxx mingw aarch64 aarch64-64k riscv64 macos-x86_64 macos-aarch64 freebsd-x86_64 msvc clang-cl)
presets_msvc=(msvc clang-cl)    # with the folder that HEADROOM_MSVC names
# Compiled and linked, not run.
presets_linked=(macos-x86_64 macos-aarch64 freebsd-x86_64)

passed=0 failed=0 table=

# counted NAME SECONDS PASSED FAILED
counted() {
    passed=$((passed + $3)) failed=$((failed + $4))
    table+=$(printf '%-14s %7d %7d %5d s' "$1" "$3" "$4" "$2")$'\n'
}

# For the table of docs/platforms.md: what is built now.
note_commit() { git rev-parse --short=10 HEAD >"build/log/commit-$1" 2>/dev/null || true; }    # note_commit PRESET

test_preset() {
    local preset=$1 mode=$2 began=$SECONDS log=build/log/test-$1.log bad=0 total=0 line broken=0 only=() flags=()
    say "$preset"
    mkdir -p build/log
    note_commit "$preset"
    case $preset:$mode in
        dev:full) only=(-E '^consumer\.(conan|debian|preset|vcpkg)$') ;;    # packages, and all of the library optimised, take their time: --slow, --everywhere
        dev:fast) only=(-E '^(consumer\.|weather$)') ;;    # what a change of the code seldom breaks
        i686:full | i686:slow) flags=(-DHEADROOM_ONLY_LABEL=core) ;;
        i686:*) flags=(-DHEADROOM_ONLY_LABEL=) ;;
        asan-ubsan:full) flags=(-DHEADROOM_WIDER_CHOICE=OFF -DHEADROOM_SANITIZE_BUT=null) ;;
        asan-ubsan:*) flags=(-DHEADROOM_WIDER_CHOICE=ON -DHEADROOM_SANITIZE_BUT=) ;;
    esac
    if ! configure "$(configured_as "$preset")" "${flags[@]+"${flags[@]}"}"; then
        counted "$preset" $((SECONDS - began)) 0 1
        return
    fi
    # One more test than processors: some wait for the disk or the clock. Whatever builds is tested; what does not build is a failed test, as ctest then finds no program to run.
    compile "$preset" -- -k 0 || broken=1
    if [ "$preset" = i686 ] && ! runs_here build/i686/tests/vector_construct_test; then
        say "this system's kernel runs no 32-bit programs: i686 is built, not run"
        counted "$preset" $((SECONDS - began)) 0 "$broken"
        return
    fi
    ctest --preset "$preset" --parallel "$((jobs + 1))" "${only[@]+"${only[@]}"}" </dev/null 2>&1 | tee "$log" | grep -vE '^ *(Start|[0-9]+/[0-9]+ .* Passed )' || true
    # What each program said, for scripts/platform_table.py; presets that share a folder overwrite each other's there.
    cp "build/$(configured_as "$preset")/Testing/Temporary/LastTest.log" "build/log/ctest-$preset.log" 2>/dev/null || true
    line=$(grep -E 'tests? failed out of [0-9]+' "$log" | tail -n 1 || true)
    if [[ $line =~ ([0-9]+)\ tests?\ failed\ out\ of\ ([0-9]+) ]]; then
        bad=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
    fi
    # A build that broke without breaking a test, or a run without tests, is a failure too.
    if [ "$bad" = 0 ] && { [ $broken = 1 ] || [ "$total" = 0 ]; }; then bad=1 total=$((total + 1)); fi
    counted "$preset" $((SECONDS - began)) $((total - bad)) "$bad"
}

# A system that nothing here can run: the library, every header alone, and programs that use all of it; each program that
# links is one test passed.
test_linked() {
    local preset=$1 began=$SECONDS folder=build/$1 program linked=0 broken=0 programs=()
    say "$preset"
    mkdir -p build/log
    note_commit "$preset"
    for program in libheadroom.a tests/every_part $(cd examples && printf 'examples/example_%s\n' *.cpp); do
        programs+=("${program%.cpp}")
    done
    (cd "$folder" 2>/dev/null && rm -f "${programs[@]}") || true    # what an earlier run left says nothing of this one
    if ! configure "$preset"; then counted "$preset" $((SECONDS - began)) 0 1; return; fi
    compile "$preset" --target headers_alone "${programs[@]}" -- -k 0 || broken=1
    for program in "${programs[@]}"; do [ ! -e "$folder/$program" ] || linked=$((linked + 1)); done
    printf '%s of %s programs linked\n' "$linked" "${#programs[@]}" >"build/log/linked-$preset"
    # One more for the headers: what broke without keeping a program from linking is one of those.
    counted "$preset" $((SECONDS - began)) $((linked + 1 - broken)) $((${#programs[@]} - linked + broken))
}

test_elsewhere() {    # test_elsewhere [TARGET...]: a little of all for other systems and compilers, of which one test each; then that it finds faults
    local began=$SECONDS line ok=0 bad=1 log=build/log/test-elsewhere.log
    say "elsewhere"
    mkdir -p build/log
    python3 -B scripts/elsewhere.py "$@" </dev/null 2>&1 | tee "$log" || true
    line=$(tail -n 1 "$log")
    if [[ $line =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then ok=${BASH_REMATCH[1]} bad=${BASH_REMATCH[2]}; fi
    if [ $# = 0 ]; then
        if python3 -B scripts/check_elsewhere.py </dev/null; then ok=$((ok + 1)); else bad=$((bad + 1)); fi
    fi
    counted elsewhere $((SECONDS - began)) "$ok" "$bad"
}

test_report() {    # test_report [NAME]: all of the report's tests, or what pytest knows under this name
    local folder=${1:-lab/report} began=$SECONDS line ok=0 bad=0 log=build/log/test-report.log
    mkdir -p build/log
    [ -n "$python" ] || return 0
    say "report"
    "$python" -m pytest -q -p no:cacheprovider --numprocesses "$jobs" --dist worksteal $folder </dev/null 2>&1 | tee "$log" || true
    line=$(tail -n 1 "$log")
    [[ $line =~ ([0-9]+)\ passed ]] && ok=${BASH_REMATCH[1]}
    [[ $line =~ ([0-9]+)\ failed ]] && bad=${BASH_REMATCH[1]}
    [[ $line =~ ([0-9]+)\ error ]] && bad=$((bad + BASH_REMATCH[1]))
    [ $((ok + bad)) -gt 0 ] || bad=1
    counted report $((SECONDS - began)) "$ok" "$bad"
}

test_tidy() {    # the library's sources, and the headers that they include; one test
    local began=$SECONDS bad=0
    say "clang-tidy"
    # All sources as one, as asan-ubsan compiles them, so that each header is looked at once.
    run-clang-tidy-19 -quiet -p build/asan-ubsan -checks=-bugprone-suspicious-include 'headroom(_file|_exchange)?\.dir/Unity/|/src/system/' </dev/null >build/log/test-tidy.log 2>&1 || bad=1
    [ $bad = 0 ] || grep -aE '(warning|error):' build/log/test-tidy.log || tail -n 20 build/log/test-tidy.log
    counted clang-tidy $((SECONDS - began)) $((1 - bad)) "$bad"
}

# What dev built, as somebody who is not root and whom the system refuses more; who is not root has run it so already.
test_ordinary() {
    local began=$SECONDS line ok=0 bad=1 log=build/log/test-ordinary.log
    [ "$(id -u)" = 0 ] || return 0
    say "ordinary user"
    python3 -B scripts/ordinary.py build/dev </dev/null 2>&1 | tee "$log" || true
    line=$(tail -n 1 "$log")
    if [[ $line =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then ok=${BASH_REMATCH[1]} bad=${BASH_REMATCH[2]}; fi
    counted "ordinary user" $((SECONDS - began)) "$ok" "$bad"
}

test_python() {    # test_python MODE [NAME]: the Python package, built and installed into .venv as its users do
    # (A file's tests one after another: one of them builds packages in the tree.)
    local began=$SECONDS line ok=0 bad=0 log=build/log/test-python.log beside=(--numprocesses "$jobs" --dist loadfile)
    [ -n "$python" ] || return 0
    say "python"
    add_python python python/requirements-test.txt
    if [ "$1" = everywhere ]; then    # other engines, clusters of workers, and the lab as batch jobs
        add_python python-everywhere python/requirements-everywhere.txt
        configure release && compile release --target headroom_command || true    # what is missing is skipped, and says so
        beside=()    # tests of many machines share build/many-machines
    fi
    if ! logged python-build "$python" -m pip install --no-build-isolation --no-deps --force-reinstall ./python; then
        counted python $((SECONDS - began)) 0 1
        return
    fi
    "$python" -m pytest -q -p no:cacheprovider "${beside[@]+"${beside[@]}"}" "${2:-python}" </dev/null 2>&1 | tee "$log" || true
    line=$(tail -n 1 "$log")
    [[ $line =~ ([0-9]+)\ passed ]] && ok=${BASH_REMATCH[1]}
    [[ $line =~ ([0-9]+)\ failed ]] && bad=${BASH_REMATCH[1]}
    [[ $line =~ ([0-9]+)\ error ]] && bad=$((bad + BASH_REMATCH[1]))
    [ $((ok + bad)) -gt 0 ] || bad=1
    counted python $((SECONDS - began)) $ok $bad
}

command_test() {
    local mode=full preset presets=("${presets_full[@]}") names=()
    while [ $# -gt 0 ]; do
        case $1 in
            --fast) mode=fast ;;
            --slow) mode=slow ;;
            --everywhere) mode=everywhere ;;
            --only)
                shift
                [ $# -gt 0 ] || misused "--only wants a preset, or several"
                mode=only presets=("$@")
                for preset in "$@"; do
                    known_preset test "$preset" || misused "there is no preset $preset to test. There are: $(preset_names test)"
                done
                break ;;
            --list) exec python3 -B scripts/dev/find_tests.py --list ;;
            -*) misused "test knows no flag $1" ;;
            *) names+=("$1") ;;
        esac
        shift
    done
    if [ ${#names[@]} -gt 0 ]; then
        [ $mode = full ] || misused "names of tests or a flag, not both"
        test_named "${names[@]}"
        return
    fi
    if [ $mode = fast ]; then presets=("${presets_fast[@]}"); fi
    if [ $mode = slow ]; then presets+=(msan slow); fi
    if [ $mode = everywhere ]; then presets+=("${presets_everywhere[@]}"); fi
    case $mode in
        fast) need "${packages_fast[@]}" ;;
        full) need "${packages_full[@]}" "${packages_python[@]}" ;;
        slow) need "${packages_full[@]}" "${packages_slow[@]}" "${packages_python[@]}" ;;
        *) need "${packages_full[@]}" "${packages_slow[@]}" "${packages_everywhere[@]}" "${packages_python[@]}" ;;
    esac
    [ $mode = fast ] || need_test_python
    case $mode in
        fast) ;;
        only)
            for preset in "${presets[@]}"; do
                if among "$preset" "${presets_linked[@]}"; then need_zig; break; fi
            done ;;
        *) need_zig ;;
    esac
    for preset in "${presets[@]}"; do
        if among "$preset" "${presets_linked[@]}"; then test_linked "$preset"
        elif among "$preset" "${presets_msvc[@]}" && ! has_msvc; then
            say "$preset: not run: HEADROOM_MSVC names no folder with VC/Tools/MSVC and \"Windows Kits/10\""
        elif among "$preset" "${presets_msvc[@]}"; then need_for "$preset"; test_preset "$preset" $mode
        else test_preset "$preset" $mode
        fi
    done
    case $mode in fast | only) ;; *) test_ordinary; test_tidy; test_elsewhere; test_report; test_python $mode ;; esac
    summary
}

summary() {
    printf '\n%-14s %7s %7s %7s\n%s' tests passed failed time "$table"
    printf '%d passed, %d failed\n' $passed $failed
    [ $failed = 0 ]
}
