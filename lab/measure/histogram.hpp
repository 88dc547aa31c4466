// SPDX-License-Identifier: MIT
// A histogram that keeps every sample, whatever its size, to three significant digits.
//
// Log-linear: values under 2048 have a bucket each; above that, every power of two is cut into 1024 equal buckets, so
// that a value is known to better than 0.1%. Adding is a shift, a count of leading zeros and an increment; it never
// allocates, so it may stand inside a timed loop. 440 KiB, of which common values touch a few cache lines.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom::lab {

class histogram {
public:
    histogram() : counts_(buckets) {}

    // Counts `value` once. O(1), never throws.
    void add(std::uint64_t value) noexcept {
        ++counts_[bucket_of(value)];
        ++samples_;
        if (value < minimum_) minimum_ = value;
        if (value > maximum_) maximum_ = value;
    }

    // Adds all samples of `other`.
    void add(const histogram& other) noexcept {
        for (std::size_t i = 0; i < buckets; ++i) counts_[i] += other.counts_[i];
        samples_ += other.samples_;
        if (other.minimum_ < minimum_) minimum_ = other.minimum_;
        if (other.maximum_ > maximum_) maximum_ = other.maximum_;
    }

    [[nodiscard]] std::uint64_t samples() const noexcept { return samples_; }
    // Exact; 0 without samples.
    [[nodiscard]] std::uint64_t minimum() const noexcept { return samples_ == 0 ? 0 : minimum_; }
    [[nodiscard]] std::uint64_t maximum() const noexcept { return samples_ == 0 ? 0 : maximum_; }

    // The smallest bucket that at least `fraction` of the samples do not exceed, by its largest value (never above the
    // maximum): nearest rank, so percentile(0.5) of 1 and 2 is 1. 0 without samples. Precondition: 0 < fraction <= 1.
    [[nodiscard]] std::uint64_t percentile(double fraction) const noexcept {
        if (samples_ == 0) return 0;
        const auto rank = static_cast<std::uint64_t>(std::ceil(fraction * static_cast<double>(samples_)));
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < buckets; ++i) {
            seen += counts_[i];
            if (seen >= rank && seen > 0) return last_of(i) < maximum_ ? last_of(i) : maximum_;
        }
        return maximum_;
    }

    // Calls visit(first, last, count) for every bucket that holds something, in ascending order; a bucket holds the
    // values first ... last.
    template <class Visit>
    void each(Visit visit) const {
        for (std::size_t i = 0; i < buckets; ++i) {
            if (counts_[i] != 0) visit(first_of(i), last_of(i), counts_[i]);
        }
    }

private:
    static constexpr int exact_bits = 11;    // values below 2^11 are kept exactly
    static constexpr std::size_t half = std::size_t{1} << (exact_bits - 1);
    static constexpr std::size_t buckets = (64 - exact_bits) * half + 2 * half;

    static constexpr std::size_t bucket_of(std::uint64_t value) noexcept {
        const auto width = static_cast<int>(std::bit_width(value));
        if (width <= exact_bits) return static_cast<std::size_t>(value);
        const int shift = width - exact_bits;    // the top eleven bits stay; the first of them is always set
        return static_cast<std::size_t>(shift) * half + static_cast<std::size_t>(value >> shift);
    }
    static constexpr std::uint64_t first_of(std::size_t bucket) noexcept {
        if (bucket < 2 * half) return bucket;
        const std::size_t shift = bucket / half - 1;
        return (std::uint64_t{bucket} - shift * half) << shift;
    }
    static constexpr std::uint64_t last_of(std::size_t bucket) noexcept {
        if (bucket < 2 * half) return bucket;
        const std::size_t shift = bucket / half - 1;
        return first_of(bucket) + ((std::uint64_t{1} << shift) - 1);
    }

    std::vector<std::uint64_t> counts_;
    std::uint64_t samples_ = 0;
    std::uint64_t minimum_ = UINT64_MAX;
    std::uint64_t maximum_ = 0;
};

}    // namespace headroom::lab
