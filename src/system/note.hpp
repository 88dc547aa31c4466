// SPDX-License-Identifier: MIT
// An ELF note by which other processes find a variable in this one, in the module that this code is linked into. Notes are loaded with the
// program and survive stripping; a debugger finds them by the module's header.
#pragma once

#if defined(__ELF__)
#if __SIZEOF_POINTER__ == 8
#define HEADROOM_NOTE_DISTANCE ".quad "
#else
#define HEADROOM_NOTE_DISTANCE ".long "
#endif
// Defines a note of type 1 that holds the distance from there to `symbol`, so that loading needs no relocation. `symbol` is the linker's
// name of a variable that is not exported.
#define HEADROOM_NOTE(name, symbol)                   \
    asm(".pushsection .note.headroom, \"a\", %note\n" \
        ".balign 4\n"                                 \
        ".long 772f - 771f\n"                         \
        ".long 774f - 773f\n"                         \
        ".long 1\n"                                   \
        "771: .asciz \"" name                         \
        "\"\n"                                        \
        "772: .balign 4\n"                            \
        "773: " HEADROOM_NOTE_DISTANCE symbol         \
        " - 773b\n"                                   \
        "774: .balign 4\n"                            \
        ".popsection\n")
#else
// Not available on other systems.
#define HEADROOM_NOTE(name, symbol) static_assert(true)
#endif
