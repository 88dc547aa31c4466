// SPDX-License-Identifier: MIT
// Columns that one thread has to itself while it runs without Python's lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "column.hpp"

namespace headroom_python {

// Another number in a forked child than in its parent.
extern std::atomic<unsigned> life;

// Gives columns to one thread while it runs without Python's lock: other appenders find no room, and wait.
class turn {
public:
    explicit turn(std::vector<column*> columns) : columns_(std::move(columns)) {
        rooms_.reserve(columns_.size());
        for (column* const each : columns_) {
            rooms_.push_back(each->held->room);
            each->held->room = each->held->used;
            const std::lock_guard lock(each->mutex);
            each->busy = life;
        }
    }
    turn(const turn&) = delete;
    // How much room there is in the elements of one of them now.
    void room(std::size_t column, std::size_t bytes) noexcept { rooms_[column] = bytes; }
    ~turn() {
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            columns_[i]->held->room = rooms_[i];
            const std::lock_guard lock(columns_[i]->mutex);
            columns_[i]->busy = 0;
            columns_[i]->no_longer_busy.notify_all();
        }
    }

private:
    std::vector<column*> columns_;
    std::vector<std::size_t> rooms_;
};

// Lets Python's lock go, if that is worth while.
class unlocked {
public:
    explicit unlocked(bool really) : state_(really ? PyEval_SaveThread() : nullptr) {}
    unlocked(const unlocked&) = delete;
    ~unlocked() {
        if (state_ == nullptr) return;
        try {
            PyEval_RestoreThread(state_);
        } catch (...) {
            wait_for_the_end();
        }
    }

private:
    PyThreadState* state_;
};

}    // namespace headroom_python
