// SPDX-License-Identifier: MIT
// Question: how long does a file take to compile that includes a container and appends to one?
//
// Source: Headroom's own. A header costs its compile time in every file that includes it.
// Method here, and why: the compiler that built the lab compiles a file of six lines at -O2, to an object that is
//   deleted; "time" is the processor time of the compiler and what it starts, seven times after one that only warms the
//   file cache. Not run where that compiler or the headers are no longer where they were when the lab was built.
// Disadvantages: headers that bring more than their own container, which a file may need.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/experiment.hpp"
#include "measure/resources.hpp"
#include "peers/vectors.hpp"
#include "workloads/commands.hpp"

namespace headroom::lab { namespace {

metrics compile(const std::string& header, const std::string& container) {
    const scratch_folder folder;
    const std::string source = folder.file("source.cpp");
    std::FILE* const file = std::fopen(source.c_str(), "w");
    if (file == nullptr) throw cannot_run("the file to compile cannot be written");
    std::fprintf(file,
                 "#include <%s>\n"
                 "int main(int count, char**) {\n"
                 "    %s<int> numbers;\n"
                 "    for (int i = 0; i < count; ++i) numbers.push_back(i);\n"
                 "    return numbers[0];\n"
                 "}\n",
                 header.c_str(), container.c_str());
    if (std::fclose(file) != 0) throw cannot_run("the file to compile cannot be written");
    const std::string command = quoted(HEADROOM_LAB_CXX) + " -std=c++20 -O2 -I " + quoted(HEADROOM_LAB_HEADERS) + " -c " +
                                quoted(source) + " -o " + quoted(folder.file("object.o")) + " >/dev/null 2>&1";
    metric time{"s", {}};
    for (int i = 0; i < 8; ++i) {
        const double before = processor_time_of_children();
        if (std::system(command.c_str()) != 0) throw cannot_run("the compiler that built the lab, or a header, is not there");
        if (i != 0) time.values.push_back(processor_time_of_children() - before);
    }
    return {{"time", time}};
}

std::vector<contender> contenders() {
    std::vector<contender> result;
    const auto add = [&]<class Peer>(const char* header) {
        const std::string container = Peer::id;
        if constexpr (absent_peer<Peer>) {
            result.push_back({container, "", Peer::absent, nullptr});
        } else {
            result.push_back({container, Peer::version(), "", [=](const parameters&) { return compile(header, container); }});
        }
    };
    add.operator()<std_vector>("vector");
    add.operator()<boost_vector>("boost/container/vector.hpp");
    add.operator()<headroom_vector>("headroom/vector.hpp");
    add.operator()<settled>("headroom/settled_vector.hpp");
    return result;
}

experiment compile_time() {
    return {.id = "compile-time",
            .question = "How long does a file take to compile that includes a container and appends to one?",
            .source = "Headroom's own",
            .contenders = contenders(),
            .grid =
                [](grid_size size, const std::string&) {
                    std::vector<configuration> result;
                    if (size == grid_size::quick) return result;
                    configuration one;
                    one.parameters = {{"language", "C++20"}};
                    one.rounds = 2;
                    one.seconds = 2;
                    one.memory = 300e6;
                    result.push_back(std::move(one));
                    return result;
                },
            .check = nullptr,
            .place = 80};
}

const registered_experiment registered(compile_time);

}    // namespace
}    // namespace headroom::lab
