// SPDX-License-Identifier: MIT
#include "containers.hpp"

#include <algorithm>
#include <array>

namespace headroom::profile {
namespace {

// Position behind the bracket that closes the one at `open`.
std::size_t behind_bracket(std::string_view text, std::size_t open) {
    int depth = 0;
    for (std::size_t i = open; i < text.size(); ++i) {
        if (text[i] == '<') ++depth;
        if (text[i] == '>' && i > 0 && text[i - 1] != '-' && --depth == 0) return i + 1;
    }
    return text.size();
}

bool starts(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

// The last name of a qualified one, without template arguments, and the class before it.
struct split_name {
    std::string_view method;
    std::string_view scope;
};

split_name split(std::string_view name) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] == '<') {
            if (starts(name.substr(begin), "operator<")) continue;
            i = behind_bracket(name, i) - 1;
        } else if (name[i] == ':' && i + 1 < name.size() && name[i + 1] == ':') {
            begin = i + 2;
            ++i;
        }
    }
    std::string_view last = name.substr(begin);
    last = last.substr(0, last.find('<'));
    return {last.substr(0, last.find("[abi:")), begin >= 2 ? name.substr(0, begin - 2) : std::string_view{}};
}

// The library's own functions; the tools are programs like others.
bool is_headroom(std::string_view name) {
    return starts(name, "headroom::") && !starts(name, "headroom::profile::") && !starts(name, "headroom::tools::") &&
           !starts(name, "headroom::lab::");
}

// True for functions of the standard library, and for those between a program and its allocator.
bool is_library(const source_frame& frame) {
    if (frame.function.empty()) return false;
    const std::string_view name = without_arguments(frame.function);
    if (is_headroom(name)) return true;
    for (const std::string_view prefix : {"std::",
                                          "__gnu_cxx::",
                                          "operator new",
                                          "operator delete",
                                          "__gnu_internal",
                                          "boost::container::",
                                          "boost::alloc",
                                          "absl::container_internal",
                                          "absl::lts_",
                                          "QArrayData",
                                          "QtPrivate::",
                                          "QVector<",
                                          "QList<",
                                          "QString::",
                                          "QByteArray::",
                                          "folly::fbvector",
                                          "llvm::SmallVector",
                                          "llvm::safe_malloc",
                                          "llvm::safe_realloc",
                                          "llvm::allocate_buffer",
                                          "eastl::"}) {
        if (starts(name, prefix)) return true;
    }
    for (const std::string_view exact : {"malloc", "calloc", "realloc", "reallocarray", "posix_memalign", "aligned_alloc",
                                         "memalign", "strdup", "__strdup", "xmalloc", "xrealloc"}) {
        if (name == exact) return true;
    }
    // Inlined functions may have no class in their name; the file tells.
    if (frame.inlined || frame.function.find("::") == std::string::npos) {
        return frame.file.find("/c++/") != std::string::npos && frame.file.find("/include/") != std::string::npos;
    }
    return false;
}

constexpr std::array containers = {"vector",
                                   "basic_string",
                                   "deque",
                                   "list",
                                   "forward_list",
                                   "map",
                                   "set",
                                   "multimap",
                                   "multiset",
                                   "unordered_map",
                                   "unordered_set",
                                   "unordered_multimap",
                                   "unordered_multiset",
                                   "_Rb_tree",
                                   "_Hashtable",
                                   "_Deque_base",
                                   "_Vector_base",
                                   "priority_queue",
                                   "queue",
                                   "stack",
                                   "function",
                                   "shared_ptr",
                                   "unique_ptr",
                                   "basic_stringbuf",
                                   "settled_vector",
                                   "small_vector",
                                   "concurrent_vector"};

bool is_container(std::string_view scope) {
    const std::string_view name = split(scope).method;
    return std::find(containers.begin(), containers.end(), name) != containers.end();
}

std::string first_argument(std::string_view container) {
    const std::size_t open = container.find('<');
    if (open == std::string_view::npos) return {};
    int depth = 0;
    for (std::size_t i = open; i < container.size(); ++i) {
        if (container[i] == '<') ++depth;
        if (container[i] == '>') --depth;
        if ((container[i] == ',' && depth == 1) || (container[i] == '>' && depth == 0)) {
            std::string argument(container.substr(open + 1, i - open - 1));
            while (!argument.empty() && argument.back() == ' ') argument.pop_back();
            return argument;
        }
    }
    return {};
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, what.size(), by);
}

}    // namespace

const std::vector<known_function>& known_functions() {
    static const std::vector<known_function> table = {// libstdc++: std::vector
                                                      {"_M_realloc_insert", doing::growing},
                                                      {"_M_realloc_append", doing::growing},
                                                      {"_M_default_append", doing::growing},
                                                      {"_M_fill_insert", doing::growing},
                                                      {"_M_fill_append", doing::growing},
                                                      {"_M_range_insert", doing::growing},
                                                      {"_M_insert_aux", doing::growing},
                                                      {"_M_append_range", doing::growing},
                                                      {"_M_reallocate", doing::growing},
                                                      // libstdc++: std::string
                                                      {"_M_mutate", doing::growing},
                                                      {"_M_append", doing::growing},
                                                      {"_M_replace", doing::growing},
                                                      {"_M_replace_aux", doing::growing},
                                                      {"_M_replace_cold", doing::growing},
                                                      // libc++
                                                      {"__push_back_slow_path", doing::growing},
                                                      {"__emplace_back_slow_path", doing::growing},
                                                      {"__swap_out_circular_buffer", doing::growing},
                                                      {"__split_buffer", doing::growing},
                                                      {"__append", doing::growing},
                                                      {"__insert_with_size", doing::growing},
                                                      {"__grow_by", doing::growing},
                                                      {"__grow_by_and_replace", doing::growing},
                                                      {"__grow_by_without_replace", doing::growing},
                                                      {"__shrink_or_extend", doing::growing},
                                                      // Others
                                                      {"priv_insert_forward_range_no_capacity", doing::growing},
                                                      {"reallocateAndGrow", doing::growing},
                                                      {"reallocateUnaligned", doing::growing},
                                                      {"reallocData", doing::growing},
                                                      {"EmplaceBackSlow", doing::growing},
                                                      {"grow_pod", doing::growing},
                                                      {"mallocForGrow", doing::growing},
                                                      {"emplaceBackSlow", doing::growing},
                                                      {"_M_reallocate_map", doing::growing},
                                                      // At the program's request
                                                      {"reserve", doing::reserving},
                                                      // Hash tables
                                                      {"_M_rehash", doing::rehashing},
                                                      {"_M_rehash_aux", doing::rehashing},
                                                      {"_M_rehash_insert", doing::rehashing},
                                                      {"__rehash", doing::rehashing},
                                                      {"__do_rehash", doing::rehashing},
                                                      {"rehash", doing::rehashing},
                                                      // New things
                                                      {"_M_construct", doing::making},
                                                      {"_M_assign", doing::making},
                                                      {"_M_assign_aux", doing::making},
                                                      {"assign", doing::making},
                                                      {"_M_create_storage", doing::making},
                                                      {"_M_create_node", doing::making},
                                                      {"_M_get_node", doing::making},
                                                      {"_M_allocate_node", doing::making},
                                                      {"_M_allocate_buckets", doing::unknown},
                                                      {"_M_push_back_aux", doing::making},
                                                      {"_M_push_front_aux", doing::making},
                                                      {"_M_allocate_map", doing::unknown},
                                                      {"_M_initialize_map", doing::making},
                                                      {"_M_range_initialize", doing::making},
                                                      {"_M_fill_initialize", doing::making},
                                                      {"_M_default_initialize", doing::making},
                                                      {"make_unique", doing::making},
                                                      {"make_shared", doing::making},
                                                      {"allocate_shared", doing::making},
                                                      {"__shared_count", doing::making},
                                                      {"make_unique_for_overwrite", doing::making},
                                                      {"basic_string", doing::making},
                                                      {"vector", doing::making},
                                                      {"operator=", doing::making},
                                                      {"__init", doing::making},
                                                      {"__construct_node", doing::making},
                                                      {"get_temporary_buffer", doing::making},
                                                      {"shrink_to_fit", doing::making},
                                                      {"strdup", doing::making}};
    return table;
}

std::string_view without_arguments(std::string_view name) {
    if (starts(name, "operator new") || starts(name, "operator delete")) return name.substr(0, name.find('('));
    std::size_t begin = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] == '<') {
            i = behind_bracket(name, i) - 1;
        } else if (name[i] == '(') {
            if (starts(name.substr(i), "(anonymous namespace)")) {
                i += std::string_view("(anonymous namespace)").size() - 1;
                continue;
            }
            if (name.substr(begin, i - begin).ends_with("operator") && starts(name.substr(i), "()")) {
                ++i;
                continue;
            }
            return name.substr(begin, i - begin);
        } else if (name[i] == ' ' && !starts(name.substr(begin), "operator")) {
            begin = i + 1;    // a return type
        }
    }
    return name.substr(begin);
}

std::string readable(std::string name) {
    for (const std::string_view inner : {"std::__cxx11::", "std::__1::", "std::__ndk1::"}) replace_all(name, inner, "std::");
    replace_all(name, "basic_string<char, std::char_traits<char>, std::allocator<char> >", "string");
    for (const std::string_view behind : {", std::allocator<", ", std::less<", ", std::hash<", ", std::equal_to<",
                                          ", std::default_delete<", ", std::char_traits<"}) {
        for (std::size_t at = 0; (at = name.find(behind, at)) != std::string::npos;) {
            name.erase(at, behind_bracket(name, at) - at);
        }
    }
    replace_all(name, " >", ">");
    return name;
}

recognised recognise(const std::vector<source_frame>& frames) {
    recognised result;
    std::string_view grown;
    std::string_view outermost;
    std::size_t i = 0;
    for (; i < frames.size() && is_library(frames[i]); ++i) {
        const std::string_view function = without_arguments(frames[i].function);
        result.headroom = result.headroom || is_headroom(function);
        const split_name name = split(function);
        if (is_container(name.scope)) {
            outermost = name.scope;
            const std::string_view kind = split(name.scope).method;
            if (kind == "priority_queue" || kind == "stack" || kind == "queue")
                result.adapter = readable(std::string(name.scope));
        }
        if (result.what != doing::unknown && result.what != doing::reserving) continue;
        for (const known_function& known : known_functions()) {
            if (name.method != known.name || known.what == doing::unknown) continue;
            // A string's reserve() and reallocation are called from its append: that is growing, not reserving.
            result.what = known.what;
            if (is_container(name.scope)) grown = name.scope;
            break;
        }
    }
    result.user = i;
    const std::string_view scope = !grown.empty() ? grown : outermost;
    if (!scope.empty()) {
        result.container = readable(std::string(scope));
        if (split(scope).method == "basic_string") result.element = "char";
        else result.element = readable(first_argument(scope));
        if (starts(result.container, "std::_Rb_tree")) result.container = "std::map or std::set, keys " + result.element;
        if (starts(result.container, "std::_Hashtable")) result.container = "std::unordered_map or _set, keys " + result.element;
    }
    return result;
}

}    // namespace headroom::profile
