# SPDX-License-Identifier: MIT
# ./dev lab: builds the lab, measures, writes the report. Sourced by ./dev.
# shellcheck shell=bash disable=SC2154,SC2034

# What the lab is asked for, checked before anything is installed or built; the rest of the checks are the command's own.
lab_grid='' lab_file='' lab_rounds='' lab_flags=()
# The cells that `./dev lab` measures when nothing is said; the file says why these.
lab_cells=lab/cells/ten-minutes.txt
# One regular expression that matches the cells that these files name.
cells_of() { grep -hvE '^(#|$)' "$@" | paste -sd '|'; }
read_lab_flags() {
    while [ $# -gt 0 ]; do
        case $1 in
            --quick | --default | --full)
                [ -z "$lab_grid" ] || [ "$lab_grid" = "${1#--}" ] || misused "--$lab_grid and $1 are two grids; choose one"
                lab_grid=${1#--} ;;
            --out) [ $# -gt 1 ] || misused "--out wants a file"; lab_file=$2; shift ;;
            --out=?*) lab_file=${1#*=} ;;
            --filter | --rounds | --shard | --wait)
                [ $# -gt 1 ] || misused "$1 wants a value"
                check_lab_value "$1" "$2"
                lab_flags+=("$1" "$2"); shift ;;
            --filter=?* | --rounds=?* | --shard=?* | --wait=?*)
                check_lab_value "${1%%=*}" "${1#*=}"
                lab_flags+=("${1%%=*}" "${1#*=}") ;;
            -h | --help) usage; exit 0 ;;
            --figures) lab_flags+=("$1") ;;
            *) misused "lab knows no flag or command $1" ;;
        esac
        shift
    done
}
check_lab_value() {
    case $1 in
        --rounds)
            [[ $2 =~ ^[1-9][0-9]*$ ]] || misused "--rounds wants a number from 1, not \"$2\""
            lab_rounds=$2 ;;
        --wait) [[ $2 =~ ^[0-9]+([.][0-9]+)?$ ]] || misused "--wait wants minutes, not \"$2\"" ;;
        --filter) check_lab_filter "$2" ;;
        --shard)
            if ! [[ $2 =~ ^([1-9][0-9]*)/([1-9][0-9]*)$ ]] || [ "${BASH_REMATCH[1]}" -gt "${BASH_REMATCH[2]}" ]; then
                misused "--shard wants i/n with 1 <= i <= n, as in 2/4, not \"$2\""
            fi ;;
    esac
}

# A list of experiments, or a regular expression whose words the lab's source knows. The command itself is exact, once it is built.
check_lab_filter() {
    local word status=0
    lab_filtered=yes
    [[ $1 == *[![:space:]]* ]] || misused "--filter wants a name or a regular expression"
    if [[ $1 =~ ^[a-z-]+(,[a-z-]+)+$ ]]; then
        for word in ${1//,/ }; do
            [ -d "lab/experiments/$word" ] || misused "there is no experiment $word; there are: $(cd lab/experiments && printf '%s ' *)"
        done
        return
    fi
    printf '' | grep -qE -- "$1" 2>/dev/null || status=$?
    [ $status -lt 2 ] || misused "--filter \"$1\" is neither a list of experiments nor a regular expression"
    [[ $1 =~ ^[A-Za-z_][A-Za-z_-]*$ ]] || return 0    # more than a word: only the command can tell
    [ -n "$(compgen -G "lab/experiments/*$1*")" ] || grep -rqE --include='*.[ch]pp' -- "\"[^\"]*$1" lab ||
        misused "--filter \"$1\" matches no experiment, contender or parameter; there are the experiments $(cd lab/experiments && printf '%s ' *)"
}
lab_filtered=no

# The Python that makes the report. With --no-install nothing is made: it is the one of .venv, of HEADROOM_PYTHON, or the system's.
need_report_python() {
    local candidate
    if [ "$install" = yes ]; then need_python; return; fi
    for candidate in "${HEADROOM_PYTHON-}" "$root/.venv/bin/python" python3; do
        if [ -n "$candidate" ] && "$candidate" -c 'import altair, jinja2, vl_convert' 2>/dev/null; then
            export HEADROOM_PYTHON=$candidate
            return
        fi
    done
    die "the report needs Python with what $requirements lists, and none has it. Leave out --no-install, or set HEADROOM_PYTHON"
}

# Takes `--compiler NAME` out of the arguments: lab_compiler, and the rest in lab_arguments.
lab_compiler='' lab_arguments=()
read_lab_compiler() {
    while [ $# -gt 0 ]; do
        case $1 in
            --compiler) [ $# -gt 1 ] || misused "--compiler wants a compiler, as in clang++-15"; lab_compiler=$2; shift ;;
            --compiler=*) lab_compiler=${1#*=} ;;
            *) lab_arguments+=("$1") ;;
        esac
        shift
    done
    [ -z "$lab_compiler" ] || command -v -- "$lab_compiler" >/dev/null || misused "there is no compiler $lab_compiler here"
}

# ./dev lab --publish: measures what docs/report needs on a quiet machine, and writes all that is made of it. Results of the same
# include/ and src/ lie in the same place, whatever else was committed meanwhile: what is there is not measured again.
publish_lab() {
    local wait=10 library file status=0
    while [ $# -gt 0 ]; do
        case $1 in
            --wait) [ $# -gt 1 ] || misused "--wait wants a value"; wait=$2; shift ;;
            --wait=?*) wait=${1#*=} ;;
            *) misused "lab --publish takes --wait MINUTES and --compiler NAME alone, not $1" ;;
        esac
        shift
    done
    check_lab_value --wait "$wait"
    [ -z "$(git status --porcelain -- include src lab 2>&1)" ] ||
        die "results name the commit that they are of: commit what was changed in include/, src/ and lab/ first (git status says what)"
    library=$(git rev-parse HEAD:include HEAD:src | cut -c1-8 | paste -sd-)
    need "${packages_lab[@]}" "${packages_python[@]}"
    need_report_python
    build_lab
    file=$root/results/published-$library/results.jsonl
    mkdir -p -- "${file%/*}" || die "cannot make the folder ${file%/*} for the results"
    HEADROOM_LAB_AGAIN="$root/dev lab --publish --wait $wait"
    export HEADROOM_LAB_AGAIN
    say "measuring into $file"
    "$headroom" lab run --default --rounds 3 --wait "$wait" --out "$file" --filter "$(cells_of lab/cells/*.txt)" || status=$?
    [ $status -lt 2 ] || exit $status
    # hugetlb is a tunable of the C library, and no malloc that a user would choose.
    "$headroom" lab run --default --rounds 5 --wait "$wait" --out "$file" --filter '^whole-programs (?!.*hugetlb)' || status=$?
    [ $status -lt 2 ] || exit $status
    publish_results "$file" || status=1
    return $status
}

# The page, its pictures and results, and every figure and table in the documentation that is made of them.
publish_results() {
    local python=${HEADROOM_PYTHON:-$root/.venv/bin/python}
    say "writing docs/report, and the figures in the documentation"
    PYTHONPATH=lab/report "$python" -B -m headroom_report "$1" --publish docs/report || return 1
    PYTHONPATH=lab/report "$python" -B lab/experiments/whole-programs/table.py || return 1
    "$python" -B scripts/quoted_figures.py
}

build_lab() {
    say "building the lab"
    configure release -B "$built" ${lab_compiler:+"-DCMAKE_CXX_COMPILER=$lab_compiler"} || exit 1
    compile_in "$built" --target headroom_command || exit 1
}

command_lab() {
    local file folder built=build/release headroom measured again status=0
    read_lab_compiler "$@"
    set -- "${lab_arguments[@]+"${lab_arguments[@]}"}"
    [ -z "$lab_compiler" ] || built=build/release-${lab_compiler##*/}
    headroom=$root/$built/bin/headroom
    if [ "${1-}" = --publish ]; then publish_lab "${@:2}"; return; fi
    case ${1-} in
        list | run) read_lab_flags "${@:2}" ;;
        report | compare | merge) ;;
        *) read_lab_flags "$@" ;;
    esac
    case ${1-} in
        list | run | merge) need "${packages_lab[@]}" ;;    # nothing of theirs is Python's
        *) need "${packages_lab[@]}" "${packages_python[@]}"; need_report_python ;;
    esac
    build_lab
    case ${1-} in
        list | run | report | compare | merge)
            cd -- "$here"    # whose files are meant
            exec "$headroom" lab "$@" ;;
    esac
    again=("$root/dev")
    [ "$install" = yes ] || again+=(--no-install)
    again+=(lab ${lab_compiler:+"--compiler=$lab_compiler"} ${lab_grid:+"--$lab_grid"} "${lab_flags[@]+"${lab_flags[@]}"}")
    # Nothing said of grid or cells: few cells, three rounds each, so that the figures decide.
    local grid=$lab_grid
    if [ -z "$grid" ] && [ $lab_filtered = yes ]; then grid=quick; fi
    if [ -z "$grid" ]; then
        grid=default
        [ -n "$lab_rounds" ] || lab_flags+=(--rounds 3)
        lab_flags+=(--filter "$(cells_of $lab_cells)")
    fi
    file=$lab_file
    if [ -z "$file" ]; then
        # Results of the same programs lie in the same place, so that an interrupted run goes on, and no other run does.
        measured=$(cat "$built"/bin/headroom-lab-O* | sha256sum)
        file=$root/results/${lab_grid:-${grid/default/ten-minutes}}-${measured:0:8}/results.jsonl
    else
        case $file in /*) ;; *) file=$here/$file ;; esac
        again+=(--out "$file")
    fi
    folder=$(dirname -- "$file")
    mkdir -p -- "$folder" || die "cannot make the folder $folder for the results"
    folder=$(cd -- "$folder" && pwd -P)
    file=$folder/$(basename -- "$file")
    say "measuring into $file"
    HEADROOM_LAB_AGAIN=$(printf '%q ' "${again[@]}") "$headroom" lab run "--$grid" "${lab_flags[@]+"${lab_flags[@]}"}" --out "$file" || status=$?
    if [ $status -ge 2 ]; then exit $status; fi    # it has said why. 1: something measured went wrong, and the report says what
    say "writing the report"
    "$headroom" lab report "$file" --text --out "$folder/report.html" || status=1    # lines were skipped, or it could not be written
    if [ "$folder/report.html" -nt "$file" ]; then say "the report: $folder/report.html"
    elif [ -f "$folder/report.html" ]; then say "this is the report of an earlier run: $folder/report.html"
    fi
    return $status
}
