// SPDX-License-Identifier: MIT
// A calculator whose syntax trees live in an arena and are winked out: expressions [EXPRESSION]...
//
// A tree is built node by node, walked once, and dropped whole. Freeing it node by node would cost as much as building it;
// here each line's tree goes by moving one pointer back, and the next tree is built in the same warm memory.
#include <headroom/arena.hpp>
#include <headroom/winked.hpp>

#include <cctype>
#include <cstddef>
#include <iostream>
#include <memory_resource>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// A sum, a product or a number; winked out, so its vector's destructor never runs.
struct node {
    using allocator_type = std::pmr::polymorphic_allocator<>;

    node(char what, allocator_type where) : kind(what), parts(where) {}

    char kind;    // '+', '*', '-' (negated), '/' (reciprocal) or 'n'
    double number = 0;
    std::pmr::vector<const node*> parts;    // in the same arena
};

class parser {
public:
    parser(std::string_view text, headroom::arena_resource& memory) : text_(text), memory_(memory) {}

    const node* parse() {
        const node* const tree = sum();
        if (next() != '\0') throw std::runtime_error("what is this: " + std::string(text_.substr(place_)));
        return tree;
    }

private:
    node* make(char kind) { return headroom::make_winked<node>(memory_, kind).get(); }

    const node* inverted(char kind, const node* part) {
        node* const result = make(kind);
        result->parts.push_back(part);
        return result;
    }

    // A list of parts of one level of precedence, joined by `plain` or `inverse`.
    template <class Part>
    const node* list(char plain, char inverse, Part part) {
        node* const result = make(plain);
        result->parts.push_back(part());
        while (next() == plain || next() == inverse) {
            const bool inverts = text_[place_++] == inverse;
            result->parts.push_back(inverts ? inverted(inverse, part()) : part());
        }
        return result->parts.size() == 1 ? result->parts.front() : result;
    }
    const node* sum() {
        return list('+', '-', [this] { return product(); });
    }
    const node* product() {
        return list('*', '/', [this] { return factor(); });
    }
    const node* factor() {
        if (next() == '-') {
            ++place_;
            return inverted('-', factor());
        }
        if (next() == '(') {
            ++place_;
            const node* const inner = sum();
            if (next() != ')') throw std::runtime_error("a bracket is not closed");
            ++place_;
            return inner;
        }
        if (!std::isdigit(static_cast<unsigned char>(next()))) throw std::runtime_error("a number is missing");
        std::size_t length = 0;
        node* const result = make('n');
        result->number = std::stod(std::string(text_.substr(place_)), &length);
        place_ += length;
        return result;
    }

    char next() {
        while (place_ < text_.size() && text_[place_] == ' ') ++place_;
        return place_ < text_.size() ? text_[place_] : '\0';
    }

    std::string_view text_;
    std::size_t place_ = 0;
    headroom::arena_resource& memory_;
};

static double value(const node& tree) {
    double result = tree.kind == '*' ? 1 : 0;
    switch (tree.kind) {
        case 'n': return tree.number;
        case '-': return -value(*tree.parts.front());
        case '/': return 1 / value(*tree.parts.front());
        default:
            for (const node* part : tree.parts) result = tree.kind == '*' ? result * value(*part) : result + value(*part);
            return result;
    }
}

int main(int argc, char** argv) {
    std::vector<std::string> lines(argv + 1, argv + argc);
    if (lines.empty()) {
        lines = {"1 + 2 * 3", "(1 + 2) * 3", "-2 * (3 - 5) / 4", "2 * (3", "10 / 4 - 1"};
        std::string sum = "0";
        for (int i = 1; i <= 10'000; ++i) sum += " + " + std::to_string(i);
        lines.push_back(sum);
    }
    headroom::arena memory;
    headroom::arena_resource resource(memory);
    for (const std::string& line : lines) {
        std::cout << (line.size() > 40 ? line.substr(0, 37) + "..." : line) << " = ";
        try {
            std::cout << value(*parser(line, resource).parse()) << '\n';
        } catch (const std::runtime_error& error) {
            std::cout << "? " << error.what() << '\n';
        }
        memory.reset();    // the whole tree goes; its memory stays warm for the next
    }
}
