# ./dev lab: builds the lab, measures, writes the report. Sourced by ./dev.
# shellcheck shell=bash disable=SC2154,SC2034

# What the lab is asked for, checked before anything is installed or built; the rest of the checks are the command's own.
lab_grid=quick lab_file='' lab_flags=()
read_lab_flags() {
    local grids=0
    while [ $# -gt 0 ]; do
        case $1 in
            --quick | --default | --full)
                [ $grids = 0 ] || [ "$lab_grid" = "${1#--}" ] || misused "--$lab_grid and $1 are two grids; choose one"
                lab_grid=${1#--} grids=1 ;;
            --out) [ $# -gt 1 ] || misused "--out wants a file"; lab_file=$2; shift ;;
            --out=?*) lab_file=${1#*=} ;;
            --filter | --rounds | --shard)
                [ $# -gt 1 ] || misused "$1 wants a value"
                check_lab_value "$1" "$2"
                lab_flags+=("$1" "$2"); shift ;;
            --filter=?* | --rounds=?* | --shard=?*)
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
        --rounds) [[ $2 =~ ^[1-9][0-9]*$ ]] || misused "--rounds wants a number from 1, not \"$2\"" ;;
        --shard)
            if ! [[ $2 =~ ^([1-9][0-9]*)/([1-9][0-9]*)$ ]] || [ "${BASH_REMATCH[1]}" -gt "${BASH_REMATCH[2]}" ]; then
                misused "--shard wants i/n with 1 <= i <= n, as in 2/4, not \"$2\""
            fi ;;
    esac
}

command_lab() {
    local file folder headroom=$root/build/release/bin/headroom measured again status=0
    case ${1-} in
        list | run) read_lab_flags "${@:2}" ;;
        report | compare | merge) ;;
        *) read_lab_flags "$@" ;;
    esac
    need "${packages_lab[@]}" "${packages_python[@]}"
    need_python
    say "building the lab"
    configure release || exit 1
    compile release --target headroom_command || exit 1
    case ${1-} in
        list | run | report | compare | merge)
            cd -- "$here"    # whose files are meant
            exec "$headroom" lab "$@" ;;
    esac
    again=("$root/dev")
    [ "$install" = yes ] || again+=(--no-install)
    again+=(lab "--$lab_grid" "${lab_flags[@]+"${lab_flags[@]}"}")
    file=$lab_file
    if [ -z "$file" ]; then
        # Results of the same programs lie in the same place, so that an interrupted run goes on, and no other run does.
        measured=$(cat build/release/bin/headroom-lab-O* | sha256sum)
        file=$root/results/$lab_grid-${measured:0:8}/results.jsonl
    else
        case $file in /*) ;; *) file=$here/$file ;; esac
        again+=(--out "$file")
    fi
    folder=$(dirname -- "$file")
    mkdir -p -- "$folder" || die "cannot make the folder $folder for the results"
    folder=$(cd -- "$folder" && pwd -P)
    file=$folder/$(basename -- "$file")
    say "measuring into $file"
    "$headroom" lab run "--$lab_grid" "${lab_flags[@]+"${lab_flags[@]}"}" --out "$file" || status=$?
    if [ $status -ge 128 ]; then
        say "to go on from there: $(printf '%q ' "${again[@]}")"
    fi
    if [ $status -ge 2 ]; then exit $status; fi    # it has said why. 1: something measured went wrong, and the report says what
    say "writing the report"
    "$headroom" lab report "$file" --text --out "$folder/report.html" || status=1    # lines were skipped, or it could not be written
    if [ "$folder/report.html" -nt "$file" ]; then say "the report: $folder/report.html"
    elif [ -f "$folder/report.html" ]; then say "this is the report of an earlier run: $folder/report.html"
    fi
    return $status
}
