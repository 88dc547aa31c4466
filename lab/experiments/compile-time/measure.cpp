// SPDX-License-Identifier: MIT
// Question: how long does a file take to compile that includes a header, appends to a vector, or uses vectors of many types?
//
// Source: Headroom's own. A header costs its compile time in every file that includes it, a container in every file for each type.
// Method here, and why: the compiler that built the lab compiles a file to an object that is deleted. "time" is the processor time of
//   the compiler and what it starts for six lines at -O2, seven times after one that only warms the file cache; "time_include" the same
//   for the #include alone; "time_types" once for nine members of vectors of 50 structures, without optimisation and with, because a
//   development build pays for the first in each of its rounds. Not run where that compiler or the headers are no longer where they
//   were when the lab was built.
// Disadvantages: headers that bring more than their own container, which a file may need.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/experiment.hpp"
#include "measure/resources.hpp"
#include "peers/headroom_memory.hpp"
#include "peers/std_memory.hpp"
#include "peers/vectors.hpp"
#include "workloads/commands.hpp"

namespace headroom::lab { namespace {

// Compiles `source` once for each of `times`, and once before if `warms`; the processor time of each.
metric time_to_compile(const std::string& source, const std::string& optimisation, int times, bool warms) {
    const scratch_folder folder;
    const std::string path = folder.file("source.cpp");
    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (file == nullptr) throw cannot_run("the file to compile cannot be written");
    const bool written = std::fputs(source.c_str(), file) >= 0;
    if (std::fclose(file) != 0 || !written) throw cannot_run("the file to compile cannot be written");
    const std::string command = quoted(HEADROOM_LAB_CXX) + " -std=c++20 -DNDEBUG -" + optimisation + " -I " +
                                quoted(HEADROOM_LAB_HEADERS) + " -c " + quoted(path) + " -o " + quoted(folder.file("object.o")) +
                                " >/dev/null 2>&1";
    metric time{"s", {}};
    for (int i = warms ? -1 : 0; i < times; ++i) {
        const double before = processor_time_of_children();
        if (std::system(command.c_str()) != 0) throw cannot_run("the compiler that built the lab, or a header, is not there");
        if (i >= 0) time.values.push_back(processor_time_of_children() - before);
    }
    return time;
}

std::string inclusion(const std::string& header) { return "#include <" + header + ">\n"; }

std::string appending(const std::string& header, const std::string& container) {
    return inclusion(header) + "int main(int count, char**) {\n    " + container +
           "<int> numbers;\n"
           "    for (int i = 0; i < count; ++i) numbers.push_back(i);\n"
           "    return numbers[0];\n"
           "}\n";
}

// Functions that use nine members of vectors of 50 structures, with a string in each or trivially copyable.
std::string many_types(const std::string& header, const std::string& container, bool with_strings) {
    std::string source = "#include <cstddef>\n#include <string>\n" + inclusion(header) + "template <int N> struct element {\n" +
                         (with_strings ? "    std::string name;\n" : "") +
                         "    int number;\n    double values[N];\n    short codes[N * 3 % 7 + 1];\n};\n"
                         "template <class T> T make(int number);\n"
                         "template <class T> struct user {\n    using vector = " +
                         container +
                         "<T>;\n"
                         "    static void push(vector& v, const T& x) { v.push_back(x); }\n"
                         "    static void emplace(vector& v, int number) { v.emplace_back(make<T>(number)); }\n"
                         "    static void insert(vector& v, std::ptrdiff_t at, const T& x) { v.insert(v.begin() + at, x); }\n"
                         "    static void erase(vector& v, std::ptrdiff_t at) { v.erase(v.begin() + at); }\n"
                         "    static void resize(vector& v, std::size_t count) { v.resize(count); }\n"
                         "    static vector copy(const vector& v) { return v; }\n"
                         "    static void assign(vector& v, const vector& from) { v = from; }\n"
                         "    static void assign(vector& v, std::size_t count, const T& x) { v.assign(count, x); }\n"
                         "    static void reserve(vector& v, std::size_t count) { v.reserve(count); }\n"
                         "};\n";
    for (int type = 1; type <= 50; ++type) source += "template struct user<element<" + std::to_string(type) + ">>;\n";
    return source;
}

metrics compile(const parameters& point, const std::string& header, const std::string& container) {
    if (!point.contains("program")) return {{"time", time_to_compile(appending(header, container), "O2", 7, true)}};
    if (point.text("program") == "50 types") {
        const std::string source = many_types(header, container, point.text("element") == "with a string");
        return {{"time_types", time_to_compile(source, point.text("optimisation"), 1, false)}};
    }
    return {{"time_include", time_to_compile(inclusion(header), "O2", 7, true)}};
}

std::vector<contender> contenders() {
    std::vector<contender> result;
    const auto add = [&]<class Peer>(const char* header) {
        const std::string container = Peer::id;
        if constexpr (absent_peer<Peer>) {
            result.push_back({container, "", Peer::absent, nullptr});
        } else {
            result.push_back(
                {container, Peer::version(), "", [=](const parameters& point) { return compile(point, header, container); }});
        }
    };
    add.operator()<std_vector>("vector");
    add.operator()<boost_vector>("boost/container/vector.hpp");
    add.operator()<headroom_vector>("headroom/vector.hpp");
    add.operator()<settled>("headroom/settled_vector.hpp");
    add.operator()<std_monotonic>("memory_resource");
    add.operator()<headroom_monotonic>("headroom/monotonic.hpp");
    add.operator()<headroom_arena>("headroom/arena.hpp");
    add.operator()<headroom_multipool>("headroom/multipool.hpp");
    return result;
}

std::vector<configuration> grid(grid_size size) {
    std::vector<configuration> result;
    if (size == grid_size::quick) return result;
    const std::vector<std::string> vectors{std_vector::id, boost_vector::id, headroom_vector::id, settled::id};
    const auto add = [&](parameters point, std::vector<std::string> names, double seconds) {
        configuration one;
        one.parameters = std::move(point);
        one.rounds = 2;
        one.seconds = seconds;
        one.memory = 300e6;
        one.contenders = std::move(names);
        result.push_back(std::move(one));
    };
    add({{"language", "C++20"}}, vectors, 2);
    add({{"program", "#include of a vector"}}, vectors, 2);
    add({{"program", "#include of a memory resource"}},
        {std_monotonic::id, headroom_monotonic::id, headroom_arena::id, headroom_multipool::id}, 3);
    for (const char* const element : {"trivially copyable", "with a string"}) {
        for (const char* const level : {"O0", "O2"}) {
            add({{"program", "50 types"}, {"element", element}, {"optimisation", level}}, {std_vector::id, headroom_vector::id},
                6);
        }
    }
    return result;
}

experiment compile_time() {
    return {
        .id = "compile-time",
        .question =
            "How long does a file take to compile that includes a header, appends to a vector, or uses vectors of many types?",
        .source = "Headroom's own",
        .contenders = contenders(),
        .grid = [](grid_size size, const std::string&) { return grid(size); },
        .check = nullptr,
        .place = 80};
}

const registered_experiment registered(compile_time);

}    // namespace
}    // namespace headroom::lab
