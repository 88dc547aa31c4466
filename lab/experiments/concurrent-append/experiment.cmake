# SPDX-License-Identifier: MIT
# A vector that no registry carries takes part where its folder is given: headers alone.
set(HEADROOM_PEER_DISPENSO_DIR "" CACHE PATH "Folder with the headers of dispenso, whose ConcurrentVector then takes part")
if(HEADROOM_PEER_DISPENSO_DIR)
  list(APPEND given_peers HEADROOM_LAB_DISPENSO)
  list(APPEND given_folders ${HEADROOM_PEER_DISPENSO_DIR})
endif()
