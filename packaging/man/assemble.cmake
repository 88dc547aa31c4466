# Makes headroom.1: the written part with the sections that the command knows of itself in the middle.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${COMMAND} describe manual OUTPUT_VARIABLE SECTIONS COMMAND_ERROR_IS_FATAL ANY)
string(STRIP "${SECTIONS}" SECTIONS)
file(READ ${TEMPLATE} page)
# (Not configure_file(): a backslash is an order to troff, and must come through.)
string(REPLACE "@VERSION@" "${VERSION}" page "${page}")
string(REPLACE "@SECTIONS@" "${SECTIONS}" page "${page}")
file(WRITE ${OUT} "${page}")
