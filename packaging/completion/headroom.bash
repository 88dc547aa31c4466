# Completes `headroom` in bash: copy it to /usr/share/bash-completion/completions/headroom, or source it.
_headroom() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} i
    for ((i = 2; i < COMP_CWORD; ++i)); do
        if [ "${COMP_WORDS[i]}" = -- ]; then    # the command to be profiled
            if ((i + 1 == COMP_CWORD)); then mapfile -t COMPREPLY < <(compgen -c -- "$word"); else COMPREPLY=(); fi
            return
        fi
    done
    case $COMP_CWORD:${COMP_WORDS[1]} in
        1:*) mapfile -t COMPREPLY < <(compgen -W "lab profile file --help --version" -- "$word"); return ;;
        *:profile)
            case $before in -o | --out | --page | --json | --pprof | --folded) ;; --sample) return ;; *)
                case $word in -*) mapfile -t COMPREPLY < <(compgen -W "-o --out --sample --page --json --pprof --folded --help --" -- "$word"); return ;; esac
                if [ "$COMP_CWORD" = 2 ]; then mapfile -t COMPREPLY < <(compgen -W "import diff --" -- "$word"); return; fi ;;
            esac ;;
        2:lab) mapfile -t COMPREPLY < <(compgen -W "list run report compare merge" -- "$word"); return ;;
        2:file) mapfile -t COMPREPLY < <(compgen -W "info verify repair" -- "$word"); return ;;
    esac
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
}
complete -o filenames -F _headroom headroom
