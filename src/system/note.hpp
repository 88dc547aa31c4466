// A mark by which other processes find something in this one: a note of the module that this code is linked into. Notes are
// loaded with the program and stay when it is stripped; a debugger, or who else may read the process, finds them by way of
// the module's header.
#pragma once

#if defined(__ELF__)
#if __SIZEOF_POINTER__ == 8
#define HEADROOM_NOTE_DISTANCE ".quad "
#else
#define HEADROOM_NOTE_DISTANCE ".long "
#endif
// A note of that name, of type 1, that holds how far `symbol` lies from where the note says so: so that nothing needs to be
// changed when the program is loaded. `symbol` is a string: the linker's name of a variable that the module does not export.
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
// Elsewhere nothing can be found that way yet.
#define HEADROOM_NOTE(name, symbol) static_assert(true)
#endif
