// headroom lab: list, run, report, compare, merge.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace headroom::tools {

class lab_command {
public:
    // Adds its subcommands to `lab`.
    explicit lab_command(CLI::App& lab);

    // Does what was asked for. Returns an exit code; throws std::exception when that cannot be done.
    int run();

private:
    int list();
    int measure();
    int merge();
    // Hands over to the report's own program with these words; does not return.
    int report(std::vector<std::string> arguments);
    [[nodiscard]] const char* grid() const;

    CLI::App* list_;
    CLI::App* run_;
    CLI::App* report_;
    CLI::App* compare_;
    CLI::App* merge_;

    bool quick_ = false;
    bool default_ = false;    // what no flag means; said, it only keeps the others away
    bool full_ = false;
    std::string filter_;
    std::string shard_;
    std::string out_ = "headroom-results.jsonl";
    int rounds_ = 0;
    bool figures_ = false;
    std::string merge_out_;
    std::vector<std::string> merge_files_;
};

}    // namespace headroom::tools
