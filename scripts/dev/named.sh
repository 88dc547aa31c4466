# SPDX-License-Identifier: MIT
# ./dev test NAME...: builds and runs what find_tests.py finds under these names. Sourced by ./dev.
# shellcheck shell=bash disable=SC2154,SC2034

# What is to be built, by preset; and what is to be run, one line each: "kind<TAB>preset<TAB>filter<TAB>names".
named_targets=() named_runs=()

read_plan() {    # read_plan FILE
    local step argument preset='' filter='' programs='' folders=''
    while IFS=$'\t' read -r step argument; do
        case $step in
            found) say "$argument" ;;
            preset)
                if [ -n "$programs$folders" ]; then end_of_plan; fi
                preset=$argument ;;
            target) named_targets+=("$preset"$'\t'"$argument") ;;
            program) programs+="${programs:+|}$argument" ;;
            folder) folders+="${folders:+ }$argument" ;;
            filter) filter=$argument ;;
            lint) named_runs+=("lint"$'\t-\t-\t'"$argument") ;;
            elsewhere) named_runs+=("elsewhere"$'\t-\t-\t'"$argument") ;;
            pytest) named_runs+=("pytest"$'\t-\t-\t'"$argument") ;;
            end) end_of_plan; preset='' filter='' ;;
        esac
    done <"$1"
}
end_of_plan() {    # (of read_plan, whose variables it sees)
    [ -z "$programs" ] || named_runs+=("programs"$'\t'"$preset"$'\t'"${filter:--}"$'\t'"$programs")
    local folder
    for folder in $folders; do named_runs+=("folder"$'\t'"$preset"$'\t-\t'"$folder"); done
    programs='' folders=''
}

# What ctest and the programs said: what passed is one line, what failed is all there.
run_ctest() {    # run_ctest LABEL PRESET FILTER ARGUMENT...
    local label=$1 preset=$2 filter=$3 log=build/log/test-named.log line bad=0 total=0 inside=0 skipped=0 began=$SECONDS said
    if [ "$filter" != - ]; then export GTEST_FILTER=$filter; else unset GTEST_FILTER; fi
    ctest --test-dir "build/$preset" --output-on-failure --no-tests=error --parallel "$jobs" "${@:4}" </dev/null 2>&1 |
        tee "$log" | grep -vE '^ *(Start|[0-9]+/[0-9]+ .* Passed )|^(Test project|Internal ctest|$)|tests passed|Total Test|Label Time|sec\*proc' || true
    unset GTEST_FILTER
    line=$(grep -E 'tests? failed out of [0-9]+' "$log" | tail -n 1 || true)
    if [[ $line =~ ([0-9]+)\ tests?\ failed\ out\ of\ ([0-9]+) ]]; then bad=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}; fi
    [ "$total" != 0 ] || { bad=1 total=1; }
    said=$(find "build/$preset" -path '*Testing/Temporary/LastTest.log' -newer "$log.began" -exec cat {} +)
    inside=$({ grep -aoE '^\[=+\] [0-9]+ tests? from .* ran' <<<"$said" || true; } | awk '{ n += $2 } END { print n + 0 }')
    if [ "$filter" != - ] && [ "$inside" = 0 ] && [ "$bad" = 0 ]; then
        printf 'dev: no test ran: the names stand in a file whose tests are not built here\n' >&2
        bad=1
    fi
    counted "$label" $((SECONDS - began)) $((total - bad)) "$bad"
    [ "$inside" = 0 ] || say "$inside tests in $total programs"
}

test_named() {    # test_named NAME...
    command -v python3 >/dev/null || need python3
    local plan run kind preset filter names entry pair presets=() targets name status=0 folder
    plan=$(mktemp) || die "cannot make a temporary file"
    python3 -B scripts/dev/find_tests.py "$@" >"$plan" || { status=$?; rm -f "$plan"; exit $status; }
    read_plan "$plan"
    rm -f "$plan"
    mkdir -p build/log
    for pair in "${named_targets[@]+"${named_targets[@]}"}" "${named_runs[@]+"${named_runs[@]}"}"; do
        case $pair in
            lint* | pytest* | elsewhere*) continue ;;
            programs* | folder*) pair=${pair#*$'\t'} ;;
        esac
        preset=${pair%%$'\t'*}
        among "$preset" "${presets[@]+"${presets[@]}"}" || presets+=("$preset")
    done
    for preset in "${presets[@]+"${presets[@]}"}"; do
        need_for "$preset"
        # Configured once: Ninja does it anew where something that it depends on has changed.
        if [ ! -f "build/$preset/build.ninja" ] || ! (cd "build/$preset" && ctest -N >/dev/null 2>&1); then
            configure "$preset" || { counted "$preset" 0 0 1; continue; }
        fi
        targets=()
        for entry in "${named_targets[@]+"${named_targets[@]}"}"; do
            [ "${entry%%$'\t'*}" != "$preset" ] || targets+=("${entry#*$'\t'}")
        done
        if [ ${#targets[@]} -gt 0 ]; then
            # What does not build is a failed test, as ctest then finds no program to run.
            compile "$preset" --target "${targets[@]}" -- -k 0 || failed=$((failed + 1))
        fi
    done
    for run in "${named_runs[@]}"; do
        IFS=$'\t' read -r kind preset filter names <<<"$run"
        : >build/log/test-named.log.began
        case $kind in
            programs) run_ctest "$preset" "$preset" "$filter" -R "^($names)\$" ;;
            folder)
                # Where ctest looks for the tests of a folder and of nothing else.
                run_ctest "${names##*/}" "$preset/$names" "$filter" ;;
            lint)
                name=${names##*/}
                status=0
                python3 -B "$names" || status=$?
                case $status in 0 | 77) counted "${name%.py}" 0 1 0 ;; *) counted "${name%.py}" 0 0 1 ;; esac ;;
            elsewhere)
                need "${packages_elsewhere[@]}"
                need_zig
                [ "$names" != all ] || names=
                # shellcheck disable=SC2086
                test_elsewhere $names ;;
            pytest)
                need_python
                [ -n "$python" ] || failed=$((failed + 1))    # left out, though it was asked for by name
                case $names in python*) test_python full "$names" ;; *) test_report "$names" ;; esac ;;
        esac
    done
    summary
}
