// SPDX-License-Identifier: MIT
// Result files: JSON Lines, one object a line, every line with a version and a kind.
//
// Two kinds: "machine" describes where and how the runs of the same `machine` id were made; "run" is one child process:
// one contender at one configuration in one round. A line is read whole or not at all; the error names its fault.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/experiment.hpp"

namespace headroom::lab {

inline constexpr int record_version = 1;

enum class outcome { ok, bad_alloc, killed, timeout, error, absent, not_run };
[[nodiscard]] const char* to_string(outcome) noexcept;
// Throws std::invalid_argument for an unknown word.
[[nodiscard]] outcome outcome_from(const std::string& word);

struct run_record {
    std::string machine;
    std::string experiment;
    std::string contender;
    lab::parameters parameters;
    int round = 0;
    lab::outcome outcome = outcome::ok;
    std::string detail;
    lab::metrics metrics;
};

// Of a line that was skipped: which, and why.
struct bad_line {
    std::string file;
    std::size_t line = 0;    // from 1
    std::string reason;
};
// "file:line: reason"
[[nodiscard]] std::string to_string(const bad_line& bad);

struct results {
    std::vector<nlohmann::json> machines;
    std::vector<run_record> runs;
    std::vector<bad_line> bad;
    bool whole = true;    // false: the last line lacks its newline, because its writer was killed
};

[[nodiscard]] nlohmann::json to_json(const parameters& point);
[[nodiscard]] nlohmann::json to_json(const metrics& measured);
[[nodiscard]] nlohmann::json to_json(const run_record& run);
// These throw std::invalid_argument, saying what is wrong.
[[nodiscard]] parameters parameters_from(const nlohmann::json& object);
[[nodiscard]] metrics metrics_from(const nlohmann::json& object);
[[nodiscard]] run_record run_from(const nlohmann::json& object);

// "element=int elements=1000", for people and for filters.
[[nodiscard]] std::string to_text(const parameters& point);

// What makes a run the same run: machine, experiment, contender, parameters, round.
[[nodiscard]] std::string key_of(const run_record& run);

// Reads what can be read. Throws std::system_error when the file cannot be opened or read at all.
[[nodiscard]] results read_results(const std::string& path);

// Appends records to a file. Each goes out in one write, so that whatever stops this program leaves whole records; a line
// that an earlier program left unfinished is closed first. Synchronised with the disk once a second and at the end.
// While one lives, no other can be made for the same file, in this process or another.
class record_writer {
public:
    // Creates the file where it is missing. Throws std::system_error when it cannot be opened for appending, and
    // std::runtime_error when another one is writing to it.
    explicit record_writer(const std::string& path);
    record_writer(const record_writer&) = delete;
    record_writer& operator=(const record_writer&) = delete;
    ~record_writer();

    // Throws std::system_error when the record could not be written whole; the file then ends with the record before.
    void append(const nlohmann::json& record);

private:
    std::string path_;
    int file_;
    bool begun_ = false;
    double synchronised_ = 0;
};

}    // namespace headroom::lab
