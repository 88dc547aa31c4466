// SPDX-License-Identifier: MIT
// A log tailer: indexes a file that grows, and hands out views of its lines that stay valid while it does.
//
//   log_tailer FILE [WORD]    the number of lines, and those with WORD; then again whenever the file has grown, until the
//                             input of this program ends
//   log_tailer                a demonstration on a file of its own
//
// The text lies in one settled_vector and never moves, so a line can be a std::string_view: no copy of the text, no index
// arithmetic, and an index built once stays right for good.
#include <headroom/settled_vector.hpp>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

class tailed_file {
public:
    explicit tailed_file(const std::string& path) : input_(path, std::ios::binary) {
        if (!input_) throw std::runtime_error("cannot read " + path);
    }

    // Takes in what was appended since the last call; how many lines were completed by it.
    std::size_t poll() {
        const std::size_t lines_before = lines_.size();
        constexpr std::size_t piece = std::size_t{64} << 10;
        // The end of the file may lie further on by now, which some systems find out only when told where to read.
        input_.clear();
        input_.seekg(static_cast<std::streamoff>(text_.size()));
        for (;;) {
            const std::size_t size = text_.size();
            text_.append_default_init(piece);
            input_.read(text_.data() + size, piece);
            const auto got = static_cast<std::size_t>(input_.gcount());
            text_.resize(size + got);
            if (got == 0) break;
            index_from(size);
        }
        return lines_.size() - lines_before;
    }

    // Views of all complete lines; valid as long as this object lives, whatever is appended.
    const headroom::settled_vector<std::string_view>& lines() const { return lines_; }

private:
    void index_from(std::size_t place) {
        for (; place < text_.size(); ++place) {
            if (text_[place] != '\n') continue;
            lines_.emplace_back(text_.data() + line_start_, place - line_start_);
            line_start_ = place + 1;
        }
    }

    std::ifstream input_;
    headroom::settled_vector<char> text_;
    headroom::settled_vector<std::string_view> lines_;
    std::size_t line_start_ = 0;
};

static void follow(const std::string& path, const std::string& word) {
    tailed_file log(path);
    std::size_t shown = 0;
    do {
        if (log.poll() == 0 && shown != 0) continue;
        for (; shown < log.lines().size(); ++shown) {
            if (word.empty() || log.lines()[shown].find(word) == std::string_view::npos) continue;
            std::cout << shown + 1 << ": " << log.lines()[shown] << '\n';
        }
        std::cout << log.lines().size() << " lines\n";
    } while (std::cin.get() != std::char_traits<char>::eof());
}

static void tail_while_writing(const std::filesystem::path& path) {
    std::ofstream log(path, std::ios::binary);
    log << "first light\nsecond wind\nthird ti" << std::flush;

    tailed_file tail(path.string());
    std::cout << tail.poll() << " lines\n";
    const std::string_view early = tail.lines().front();

    log << "me lucky\n";
    for (int i = 0; i < 200'000; ++i) log << "line " << i << " of a busy server\n";
    log << std::flush;
    std::cout << tail.poll() << " more lines\n";
    std::cout << tail.lines()[2] << '\n' << tail.lines().back() << '\n';
    std::cout << "the view from before still says: " << early << '\n';
}

static void demonstrate() {
    const auto path = std::filesystem::temp_directory_path() / ("headroom_log_" + std::to_string(std::random_device{}()));
    tail_while_writing(path);
    std::filesystem::remove(path);    // which Windows refuses while anything has it open
}

int main(int argc, char** argv) {
    if (argc > 1) {
        follow(argv[1], argc > 2 ? argv[2] : "");
    } else {
        demonstrate();
    }
}
