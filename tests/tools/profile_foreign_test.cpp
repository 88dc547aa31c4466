// SPDX-License-Identifier: MIT
// Labels: tools linux no-valgrind no-sanitizer
// Foreign traces: a terminal does not execute their names, no named file is read, and they get memory only in proportion to their
// size.
#include "profile/run.hpp"

#include <zlib.h>
#include <zstd.h>

#include "analyse/add_up.hpp"
#include "analyse/sites.hpp"
#include "printable.hpp"
#include "show/show.hpp"
#include "trace/reader.hpp"
#include "trace/writer.hpp"

namespace {

using namespace profile_test;
using namespace headroom::profile;

const std::string escape =
    "\x1b]0;title\x07\x1b[31mred\r\x9b"
    "2J\xc2\x9b\xe2\x80\xae\x7f";

// True if the text contains control characters other than ends of lines.
bool gives_orders(const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if ((byte < ' ' && byte != '\n') || byte == 0x7f) return true;
        if (byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0) return true;
        if (text.compare(i, 3, "\xe2\x80\xae") == 0) return true;
    }
    return text.find(
               "\x9b"
               "2J") != std::string::npos;
}

// Writes a trace of the recorder's format in which every text is hostile.
void write_hostile(const std::string& path) {
    trace_writer out(path);
    record_writer records;
    records.begin(record::process);
    for (int i = 0; i < 4; ++i) records.number(1);
    records.text("/bin/" + escape);
    records.text("program " + escape);
    records.begin(record::module);
    for (const std::uint64_t each : {0U, 0U, 4096U, 0U}) records.number(each);
    records.text("/nowhere/" + escape);
    records.begin(record::stack);
    for (const std::uint64_t each : {0U, 0U, 2U, 32U, 32U}) records.number(each);
    records.begin(record::stack);
    for (const std::uint64_t each : {1U, 0U, 1U, 2048U}) records.number(each);
    records.begin(record::names);
    records.number(0);
    records.number(16);
    records.number(1);
    records.text("void std::vector<evil" + escape + ">::_M_realloc_insert<>()");
    records.text("/usr/include/c++/12/" + escape);
    records.number(3);
    records.text("/bin/" + escape);
    records.number(0);
    records.begin(record::names);
    records.number(0);
    records.number(32);
    records.number(1);
    records.text("fill" + escape);
    records.text("/home/" + escape + ".cpp");
    records.number(7);
    records.text("/bin/" + escape);
    records.number(0);
    for (const std::uint32_t stack : {0U, 1U}) {
        for (const unsigned size : {1U << 20, 1U << 21}) {
            records.begin(record::info);
            records.number(stack);
            records.number(size);
        }
        records.begin(record::allocated);
        records.info(2 * stack);
        records.begin(record::allocated);
        records.info(2 * stack + 1);
        for (int i = 0; i < 2; ++i) {
            records.begin(record::grew);
            records.info(2 * stack);
            records.info(2 * stack + 1);
            records.number(grew_adjacent | 3);
            records.number(1000000000);
        }
    }
    records.begin(record::text);
    records.text("note " + escape);
    records.begin(record::ended);
    records.number(2000000);
    out.write(0, records);
}

TEST(texts_of_a_trace, give_a_terminal_no_orders) {
    const scratch_folder folder;
    write_hostile(folder.file("ours"));
    std::ofstream(folder.file("heaptracks"), std::ios::binary)
        << "v 10400 3\nX ./program " + escape + "\ns 9 ./program\ns 20 main" + escape + "\ns 20 main.cpp" + escape +
               "\ns 39 std::vector<evil" + escape +
               ">::_M_realloc_insert\ns a vector.tcc\n"
               "i 1000 1 2 3 a\ni 2000 1 4 5 1d0\nt 1 0\nt 2 1\na 400000 2\na 800000 2\n+ 0\n+ 1\n- 0\n+ 0\n+ 1\n- 0\nc 64\n";
    for (const char* const name : {"ours", "heaptracks"}) {
        const trace_totals totals = add_up(folder.file(name));
        EXPECT_EQ(totals.damage, "");
        const profile_result found = find_sites(totals);
        ASSERT_FALSE(found.sites.empty());
        EXPECT_TRUE(std::any_of(found.sites.begin(), found.sites.end(),
                                [](const site& one) { return one.container.find("evil") != std::string::npos; }));
        for (const std::string& text : {terminal_text(found, 400), difference_text(found, profile_result(), 400),
                                        folded_text(found), json_text(found), page_text(found, "")}) {
            EXPECT_FALSE(gives_orders(text)) << name << ": " << text.substr(0, 2000);
            EXPECT_FALSE(text.empty());
        }
        const outcome shown = run(folder, std::string("@headroom profile import --page @folder/page @folder/") + name);
        EXPECT_EQ(shown.code, 0);
        EXPECT_FALSE(gives_orders(shown.out + shown.err)) << shown.out << shown.err;
    }
}
TEST(texts_of_a_trace, keep_the_letters_of_all_languages) {
    using headroom::tools::printable;
    for (const char* const text : {"größe", "函数", "µ", "\U0001f600", "a b"}) EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable("\x1b["), "\\x1b[");
    EXPECT_EQ(printable("\xc3"), "\\xc3");
    EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b") << "an order in one character";
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
    EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "too long for what it says";
}

TEST(texts_of_a_trace, are_cut_between_their_letters) {
    using headroom::tools::shortened_to;
    EXPECT_EQ(shortened_to("größe", 5, ".."), "größe");
    EXPECT_EQ(shortened_to("größer", 5, ".."), "grö..");
    EXPECT_EQ(shortened_to("函数函数", 5, ".."), "函..") << "two columns each";
}
TEST(texts_of_a_trace, mean_the_same_as_json_without_their_orders) {
    const std::string name =
        "größe \xc2\x9b"
        "2J\xe2\x80\xae\U000e0041\x1b";
    const std::string json = headroom::tools::printable_json(nlohmann::json(name).dump());
    EXPECT_FALSE(gives_orders(json)) << json;
    EXPECT_NE(json.find("größe"), std::string::npos) << json;
    EXPECT_EQ(nlohmann::json::parse(json), name);
}

TEST(a_page, shows_lines_only_of_files_in_the_folder_that_was_given) {
    const scratch_folder folder;
    fs::create_directories(folder.file("tree/deeper"));
    fs::create_directories(folder.file("tree-too"));
    for (const char* const name : {"secret", "tree/deeper/source.cpp", "tree-too/secret"})
        std::ofstream(folder.file(name)) << "before\nthe line itself\nafter\n";
    fs::create_symlink(folder.file("secret"), folder.file("tree/link.cpp"));
    const auto shown = [&](const std::string& file, const std::string& sources) {
        profile_result profile;
        site one;
        one.function = "fill";
        one.file = file;
        one.line = 2;
        one.container = "std::vector<int>";
        one.element = "int";
        one.element_size = 4;
        one.seconds = 1;
        one.growth = {20, 8e6, 1e8, 1000, 0, 16e6};
        one.totals.largest_final = 8000000;
        profile.sites.push_back(one);
        return page_text(profile, sources).find("the line itself") != std::string::npos;
    };
    const std::string tree = folder.file("tree");
    EXPECT_TRUE(shown(folder.file("tree/deeper/source.cpp"), tree));
    EXPECT_TRUE(shown("deeper/source.cpp", tree));
    EXPECT_TRUE(shown(folder.file("secret"), "/"));
    for (const std::string& file : {folder.file("secret"), folder.file("tree-too/secret"), folder.file("tree/../secret"),
                                    std::string("../secret"), folder.file("tree/link.cpp"), std::string("link.cpp")}) {
        EXPECT_FALSE(shown(file, tree)) << file;
    }
    EXPECT_FALSE(shown(folder.file("tree/deeper/source.cpp"), "")) << "no folder was given";
    EXPECT_FALSE(shown(folder.file("tree/deeper/source.cpp"), folder.file("no-such-folder")));
    EXPECT_FALSE(shown("/dev/zero", "/")) << "or the page would have no end";
}

void write_compressed(const std::string& path, const std::string& text) {
    std::string packed(ZSTD_compressBound(text.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
    std::ofstream(path, std::ios::binary) << packed;
}
std::string repeated(const std::string& text, std::size_t count) {
    std::string all;
    all.reserve(text.size() * count);
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
}

// Each of these would take gigabytes from a few kilobytes.
TEST(a_small_trace, is_given_little_memory_whatever_it_says) {
    const scratch_folder folder;
    const std::string head = "v 10400 3\n";
    std::map<std::string, std::string> bombs;
    bombs["a long line"] = head + std::string(std::size_t{20} << 20, 'x');
    bombs["strings"] = head + repeated("s 0 \n", 4000000);
    bombs["instructions"] = head + repeated("i 1 0\n", 4000000);
    bombs["nodes"] = head + repeated("t 0 0\n", 8000000);
    bombs["kinds"] = head + "t 0 0\n" + repeated("a 1 0\n", 4000000);
    {
        std::string deep = head + "s 1 " + std::string(1000, 'f') + "\ni 1 0 1 1 1\n";
        for (int i = 0; i < 20000; ++i) {
            char line[64];
            std::snprintf(line, sizeof line, "t 1 %x\n", i);
            deep += line;
        }
        for (int i = 1; i < 20000; ++i) {
            char line[64];
            std::snprintf(line, sizeof line, "a 1 %x\n", i);
            deep += line;
        }
        bombs["deep stacks"] = deep;
    }
    for (const auto& [name, text] : bombs) {
        write_compressed(folder.file("bomb"), text);
        ASSERT_LT(fs::file_size(folder.file("bomb")), 300000U) << name;
        const outcome done = run(folder, "ulimit -v 1000000; @headroom profile import @folder/bomb");
        EXPECT_EQ(done.code, 2) << name;
        EXPECT_TRUE(done.err.find("stands for more than") != std::string::npos ||
                    done.err.find("longer than") != std::string::npos)
            << name << ": " << done.err;
    }
    for (const record what : {record::info, record::text, record::stack, record::module}) {
        {
            trace_writer out(folder.file("ours"));
            for (int block = 0; block < 5; ++block) {
                record_writer records;
                for (int i = 0; i < 400000; ++i) {
                    records.begin(what);
                    const int numbers = what == record::info ? 2 : what == record::stack ? 3 : what == record::module ? 4 : 0;
                    for (int k = 0; k < numbers; ++k) records.number(0);
                    if (what == record::text || what == record::module) records.text("");
                }
                out.write(0, records);
            }
        }
        ASSERT_LT(fs::file_size(folder.file("ours")), 30000U);
        // Shows the content read before the limit.
        const outcome done =
            run(folder, "ulimit -v 1000000; @headroom profile import --json - @folder/ours | grep -c 'stands for more than'");
        EXPECT_EQ(done.out, "1\n") << static_cast<int>(what) << done.err;
    }
}

}    // namespace
