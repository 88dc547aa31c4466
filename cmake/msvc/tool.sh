#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs a tool of MSVC under Wine: tool.sh FOLDER TOOL ARGUMENTS..., TOOL being cl, link, lib or rc. FOLDER is laid out as Visual Studio
# installs: VC/Tools/MSVC/VERSION and "Windows Kits/10". Names of files are this system's, in arguments and in what cl says of includes.
set -euo pipefail
folder=$1 tool=$2
shift 2
last() { printf '%s\n' "$1"/* | tail -n 1; }    # the newest version
vc=$(last "$folder/VC/Tools/MSVC") kit="$folder/Windows Kits/10"
include=$(last "$kit/Include") lib=$(last "$kit/Lib")
export WINEDEBUG=${WINEDEBUG:--all}
export INCLUDE="Z:$vc/include;Z:$include/ucrt;Z:$include/um;Z:$include/shared" LIB="Z:$vc/lib/x64;Z:$lib/ucrt/x64;Z:$lib/um/x64"
case $tool in
    rc | mt) program=$(last "$kit/bin")/x64/$tool.exe ;;
    *) program=$vc/bin/Hostx64/x64/$tool.exe ;;
esac

# An absolute name would be read as an option: Z: is this system's root. Such a name follows nothing, an option's letters, or a colon.
tops=$(cd / && printf '%s|' *) tops=${tops%|}
translate() { sed -E "s#(^|[ \"]|[-/](external:)?I|[-/]F[A-Za-z]|[-/]Y[cu]|[-/][A-Za-z]+:)(\"?)/($tops)/#\1\3Z:/\4/#g"; }
words=()
made=()
for word in "$@"; do
    case $word in
        @*) made+=("$(mktemp --suffix=.rsp)")
            translate <"${word#@}" >"${made[-1]}"
            words+=("@Z:${made[-1]}") ;;
        */*) words+=("$(translate <<<"$word")") ;;
        *) words+=("$word") ;;
    esac
done
status=0
/usr/lib/wine/wine64 "$program" "${words[@]}" 2>&1 |
    sed -E -e 's/\r$//' -e '/^(Note: including file: +)[Zz]:/{s//\1/;s#\\#/#g}' || status=${PIPESTATUS[0]}
[ ${#made[@]} = 0 ] || rm -f "${made[@]}"
exit "$status"
