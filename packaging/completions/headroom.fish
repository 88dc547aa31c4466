# Completes `headroom` in fish: the command itself says what may follow.
function __headroom_offers
    set -l words (commandline -opc) (commandline -ct)
    test (count $words) -gt (count (commandline -opc)); or set -a words ''
    $words[1] --complete $words[2..-1] 2>/dev/null
end
complete -c headroom -n 'not contains -- -- (commandline -opc)' -a '(__headroom_offers)'
complete -c headroom -n 'contains -- -- (commandline -opc)' -a '(__fish_complete_command)'
