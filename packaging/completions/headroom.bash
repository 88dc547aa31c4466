# Completes `headroom` in bash: the command itself says what may follow.
_headroom() {
    local word=${COMP_WORDS[COMP_CWORD]} i
    for ((i = 1; i < COMP_CWORD; ++i)); do
        [ "${COMP_WORDS[i]}" = -- ] || continue    # somebody else's command, and its arguments
        ((i + 1 < COMP_CWORD)) || mapfile -t COMPREPLY < <(compgen -c -- "$word")
        return
    done
    mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1)
}
complete -o default -F _headroom headroom
