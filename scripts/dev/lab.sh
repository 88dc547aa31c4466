# ./dev lab: builds the lab, measures, writes the report. Sourced by ./dev.

command_lab() {
    local grid=quick folder='' file='' flags=() headroom=build/release/bin/headroom measured status=0
    need "${packages_lab[@]}" "${packages_python[@]}"
    need_python
    say "building the lab"
    configure release || exit 1
    compile release --target headroom_command || exit 1
    case ${1-} in list | run | report | compare | merge) exec "$headroom" lab "$@" ;; esac
    while [ $# -gt 0 ]; do
        case $1 in
            --quick | --full) grid=${1#--} ;;
            --default) grid=default ;;    # between the two: about forty minutes
            --out) [ $# -gt 1 ] || misused "--out wants a file"; file=$2; shift ;;
            --out=*) file=${1#*=} ;;
            *) flags+=("$1") ;;
        esac
        shift
    done
    [ $grid = default ] || flags=("--$grid" "${flags[@]+"${flags[@]}"}")
    if [ -z "$file" ]; then
        # Results of the same programs lie in the same place, so that an interrupted run goes on, and no other run does.
        measured=$(cat build/release/bin/headroom-lab-O* | sha256sum)
        file=results/$grid-${measured:0:8}/results.jsonl
    fi
    folder=$(dirname -- "$file")
    mkdir -p -- "$folder"
    say "measuring into $file"
    "$headroom" lab run "${flags[@]+"${flags[@]}"}" --out "$file" || status=$?
    [ $status -lt 2 ] || exit $status    # 1: something measured went wrong, and the report says what
    say "writing the report"
    "$headroom" lab report "$file" --text --out "$folder/report.html" || exit 1
    say "the report: $root/$folder/report.html"
    return $status
}
