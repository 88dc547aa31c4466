// Labels: own-heap no-valgrind
// The same of checked builds, which remember every block: memory for that may be refused, too.
#define HEADROOM_CHECKED 1
#include "resources_refused_test.cpp"
