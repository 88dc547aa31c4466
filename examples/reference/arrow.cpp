// SPDX-License-Identifier: MIT
#include <headroom/arrow.hpp>
#include <chrono>
#include <iostream>

int main() {
    using namespace std::chrono;
    headroom::settled_vector<sys_time<microseconds>> when;
    headroom::settled_vector<double> celsius;
    headroom::bit_column measured;    // which of them are there
    headroom::settled_vector<std::int64_t> ends{0};
    headroom::settled_vector<char> letters;
    for (int i = 0; i < 5; ++i) {
        when.push_back(sys_days{2026y / 1 / 1} + hours{i});
        celsius.push_back(20.5 + i);
        measured.push_back(i != 3);
        for (const char each : std::string_view("indoors")) letters.push_back(each);
        ends.push_back(static_cast<std::int64_t>(letters.size()));
    }
    const double* const where = celsius.data();

    // The whole of it, for pyarrow, DuckDB, Polars, ...: in chunks of two rows. Nothing is copied.
    ArrowArrayStream stream{};
    headroom::export_arrow_table(
        &stream, headroom::chunk_rows(2), headroom::arrow_column("when", std::move(when)),
        headroom::arrow_column("celsius", std::move(celsius)).nullable(std::move(measured)),
        headroom::arrow_column::text("room", headroom::freeze(std::move(ends)), headroom::freeze(std::move(letters))));

    // What another engine does with it; here we play both sides.
    ArrowSchema schema{};
    stream.get_schema(&stream, &schema);
    for (std::int64_t i = 0; i < schema.n_children; ++i) {
        std::cout << schema.children[i]->name << ": " << schema.children[i]->format << '\n';
    }
    for (;;) {
        ArrowArray chunk{};
        if (stream.get_next(&stream, &chunk) != 0 || chunk.release == nullptr) break;
        ArrowSchema type{};
        stream.get_schema(&stream, &type);
        const auto values = headroom::import_arrow<double>(chunk.children[1], type.children[1], headroom::nulls::allowed);
        std::cout << values.size() << " rows, " << values.null_count() << " missing, " << values.data() - where
                  << " from the first\n";
        type.release(&type);
        chunk.release(&chunk);
    }
    schema.release(&schema);
    stream.release(&stream);
}
