// SPDX-License-Identifier: MIT
// Grows a forest that classifies the rows of a file, and writes it: the file, the output's name, the number of trees.
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "ForestClassification.h"
#include "globals.h"

int main(int, char** arguments) {
    using namespace ranger;
    std::ostringstream said;
    ForestClassification forest;
    forest.initCpp("class", MEM_DOUBLE, arguments[1], 0, arguments[2], static_cast<uint>(std::atoi(arguments[3])), &said, 1, 2,
                   "", IMP_GINI, 0, "", {}, "", true, {}, false, LOGRANK, "", false, 1, DEFAULT_ALPHA, DEFAULT_MINPROP, false,
                   RESPONSE, DEFAULT_NUM_RANDOM_SPLITS, 0, {}, false);
    forest.run(false, true);
    forest.saveToFile();
    std::cout << forest.getOverallPredictionError() << '\n';
}
