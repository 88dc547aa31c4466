// SPDX-License-Identifier: MIT
// Reads a YAML file, adds a member to each of its documents, and prints it.
#include <yaml-cpp/yaml.h>

#include <iostream>

int main(int, char** arguments) {
    YAML::Node documents = YAML::LoadFile(arguments[1]);
    for (YAML::Node document : documents) document["count"] = document["tags"].size();
    std::cout << documents << '\n';
}
