// SPDX-License-Identifier: MIT
// Reads a JSON file, adds a member to each of its records, and prints it.
#include <json/json.h>

#include <fstream>
#include <iostream>

int main(int, char** arguments) {
    std::ifstream file(arguments[1]);
    Json::Value records;
    file >> records;
    for (Json::Value& record : records) record["count"] = static_cast<int>(record["tags"].size());
    Json::StreamWriterBuilder how;
    how["indentation"] = "";
    std::cout << Json::writeString(how, records) << '\n';
}
