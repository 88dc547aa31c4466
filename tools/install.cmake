# SPDX-License-Identifier: MIT
# Installing the command with its parts, in component `tools`: cmake --install BUILD --component tools.
include(GNUInstallDirs)

# Where the command finds its parts, seen from its own folder, so that an installed tree can be moved.
file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(headroom_command PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
install(TARGETS headroom_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)

if(TARGET headroom-recorder)
  # bin/../lib/headroom: see tools/profile/command.cpp.
  install(TARGETS headroom-recorder LIBRARY DESTINATION ${CMAKE_INSTALL_BINDIR}/../lib/headroom COMPONENT tools)
endif()

if("lab" IN_LIST verbs)
  get_property(programs GLOBAL PROPERTY headroom_lab_programs)
  set_target_properties(${programs} PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
  install(TARGETS ${programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  # The report, beside the experiments' own pages: bin/../share/headroom/lab, see tools/lab/command.cpp.
  set(lab ${CMAKE_INSTALL_BINDIR}/../share/headroom/lab)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/lab/report/headroom_report DESTINATION ${lab}/report COMPONENT tools
    PATTERN __pycache__ EXCLUDE)
  install(FILES ${PROJECT_SOURCE_DIR}/lab/report/requirements.txt DESTINATION ${lab}/report COMPONENT tools)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/lab/experiments DESTINATION ${lab} COMPONENT tools
    FILES_MATCHING PATTERN *.py PATTERN *.json PATTERN __pycache__ EXCLUDE)
endif()

if(NOT CMAKE_CROSSCOMPILING)
  install(FILES ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
endif()
set(completions ${PROJECT_SOURCE_DIR}/packaging/completions)
install(FILES ${completions}/headroom.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME headroom COMPONENT tools)
install(FILES ${completions}/_headroom DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT tools)
install(FILES ${completions}/headroom.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tools)
