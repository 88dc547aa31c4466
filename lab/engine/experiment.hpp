// SPDX-License-Identifier: MIT
// An experiment as the engine sees it: a name, a grid of configurations, contenders, and a function that measures one.
//
// Experiments are written against this header and `measure/` alone, and reach the contenders through `peers/`; they know
// nothing of processes, files or progress.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace headroom::lab {

// One value on an axis of the grid.
using parameter = std::variant<bool, std::int64_t, std::string>;

// One point of the grid: what is measured. Ordered by name, so that equal points print and compare alike.
class parameters {
public:
    parameters() = default;
    parameters(std::initializer_list<std::pair<const std::string, parameter>> values) : values_(values) {}

    // The value under `name`. Throws std::invalid_argument when it is absent or of another type.
    [[nodiscard]] std::int64_t number(const std::string& name) const { return get<std::int64_t>(name); }
    [[nodiscard]] std::size_t count(const std::string& name) const { return static_cast<std::size_t>(number(name)); }
    [[nodiscard]] const std::string& text(const std::string& name) const { return get<std::string>(name); }
    // False when absent.
    [[nodiscard]] bool flag(const std::string& name) const { return values_.contains(name) && get<bool>(name); }
    [[nodiscard]] bool contains(const std::string& name) const { return values_.contains(name); }

    void set(const std::string& name, parameter value) { values_[name] = std::move(value); }

    [[nodiscard]] auto begin() const { return values_.begin(); }
    [[nodiscard]] auto end() const { return values_.end(); }
    friend bool operator==(const parameters&, const parameters&) = default;
    friend bool operator<(const parameters& a, const parameters& b) { return a.values_ < b.values_; }

private:
    template <class T>
    [[nodiscard]] const T& get(const std::string& name) const {
        const auto found = values_.find(name);
        if (found == values_.end()) throw std::invalid_argument("parameter \"" + name + "\" is missing");
        if (const T* value = std::get_if<T>(&found->second)) return *value;
        throw std::invalid_argument("parameter \"" + name + "\" has the wrong type");
    }

    std::map<std::string, parameter> values_;
};

// One measured quantity. A histogram has `counts`, as many as `values`: counts[i] samples of about values[i].
struct metric {
    std::string unit;
    std::vector<double> values;
    std::vector<std::uint64_t> counts = {};
    friend bool operator==(const metric&, const metric&) = default;
};
using metrics = std::map<std::string, metric>;

// How much of the grid: the shape in two minutes, a coffee break, or the documents' own sizes.
enum class grid_size { quick, standard, full };

// One configuration, which all its contenders go through in turn.
struct configuration {
    lab::parameters parameters;
    int rounds = 3;
    bool counted = false;                        // counts, the same in every round: --rounds asks for no more
    double seconds = 0.05;                       // expected for one child: for the time left and for equal shards
    double memory = 64e6;                        // bytes that one child is expected to need
    double limited = 0;                          // bytes it may have, with swap for `memory` behind them; 0: as it likes
    double warmed = 0;                           // bytes that another process touches before each child; see warm_machine.hpp
    std::vector<std::string> contenders = {};    // the only ones that take part; empty: all
    std::string huge_pages = {};                 // the machine's setting that it needs: see huge_pages.hpp; empty: as it is
};

struct contender {
    std::string id;
    std::string version;
    std::string absent;    // why it cannot take part; empty when it can
    std::function<metrics(const parameters&)> run;
};

// Thrown by a run that this system cannot make: it is recorded as not_run, with the reason.
class cannot_run : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct experiment {
    std::string id;
    std::string question;
    std::string source;
    std::vector<contender> contenders;
    // The configurations of this executable, which was built at `level` ("O0" to "O3").
    std::function<std::vector<configuration>(grid_size, const std::string& level)> grid;
    // The metric to show while it runs.
    std::string headline = "time";
    // The quick form of a configuration in which all contenders must agree on the metric "checksum" before anything is
    // timed. Null: the contenders compute nothing comparable.
    std::function<parameters(const parameters&)> check;
    // The contenders that take part once more under each allocator that a user would preload (engine/preload.hpp).
    std::vector<std::string> preloaded = {};
    // Where it stands among the others in a run: the least comes first, equals by id.
    int place = 1000;
};

// Makes an experiment known to the program that it is linked into. lab/experiments/NAME/measure.cpp defines one of these, at
// namespace scope, and nothing outside that folder names the experiment.
class registered_experiment {
public:
    explicit registered_experiment(experiment (*make)()) noexcept : make_(make), next_(first_) { first_ = this; }
    registered_experiment(const registered_experiment&) = delete;
    registered_experiment& operator=(const registered_experiment&) = delete;

    // All that were linked, in their order.
    [[nodiscard]] static std::vector<experiment> all() {
        std::vector<experiment> result;
        for (const registered_experiment* one = first_; one != nullptr; one = one->next_) result.push_back(one->make_());
        std::sort(result.begin(), result.end(),
                  [](const experiment& a, const experiment& b) { return std::tie(a.place, a.id) < std::tie(b.place, b.id); });
        return result;
    }

private:
    experiment (*make_)();
    const registered_experiment* next_;
    static constinit inline const registered_experiment* first_ = nullptr;
};

// The usual check: the same with at most a thousand elements.
[[nodiscard]] inline parameters few_elements(const parameters& from) {
    parameters result = from;
    if (from.contains("elements") && from.number("elements") > 1000) result.set("elements", std::int64_t{1000});
    return result;
}

// The check of an experiment whose length is one parameter: the same with this value.
[[nodiscard]] inline std::function<parameters(const parameters&)> with_parameter(std::string name, parameter value) {
    return [name = std::move(name), value = std::move(value)](const parameters& from) {
        parameters result = from;
        result.set(name, value);
        return result;
    };
}

}    // namespace headroom::lab
