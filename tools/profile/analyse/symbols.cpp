// SPDX-License-Identifier: MIT
#include "symbols.hpp"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <cstdlib>
#include <map>
#include <unordered_map>

#include "trace/writer.hpp"

namespace headroom::profile {

std::string demangled(const char* name) {
    int status = 0;
    char* const clear = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    if (clear == nullptr) return name;
    std::string result(clear);
    std::free(clear);
    return result;
}

namespace {

// Where a function was declared: what it was inlined from, and the declaration in its class.
Dwarf_Die declaration(Dwarf_Die die) {
    for (int step = 0; step < 4; ++step) {
        Dwarf_Attribute attribute;
        Dwarf_Die next;
        if (dwarf_attr(&die, DW_AT_abstract_origin, &attribute) == nullptr &&
            dwarf_attr(&die, DW_AT_specification, &attribute) == nullptr)
            break;
        if (dwarf_formref_die(&attribute, &next) == nullptr) break;
        die = next;
    }
    return die;
}

// Types that only one file knows have no linkage names: the name is put together from the classes and namespaces around
// it.
std::string qualified(Dwarf_Die* die) {
    Dwarf_Die declared = declaration(*die);
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes_die(&declared, &scopes);
    std::string result;
    for (int i = 0; i < count; ++i) {
        const int tag = dwarf_tag(&scopes[i]);
        if (tag == DW_TAG_compile_unit || tag == DW_TAG_partial_unit) break;
        if (tag == DW_TAG_lexical_block) continue;
        Dwarf_Attribute attribute;
        const char* name = dwarf_formstring(dwarf_attr_integrate(&scopes[i], DW_AT_name, &attribute));
        if (name == nullptr) name = tag == DW_TAG_namespace ? "(anonymous namespace)" : "<unnamed>";
        if (tag == DW_TAG_namespace && dwarf_hasattr_integrate(&scopes[i], DW_AT_export_symbols) != 0) continue;    // inline
        result = result.empty() ? name : std::string(name) + "::" + result;
    }
    std::free(scopes);
    return result;
}

std::string name_of(Dwarf_Die* die) {
    Dwarf_Attribute attribute;
    for (const unsigned which : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
        if (dwarf_attr_integrate(die, which, &attribute) == nullptr) continue;
        if (const char* const name = dwarf_formstring(&attribute)) return demangled(name);
    }
    return qualified(die);
}

// True for the C library, whose line numbers are of no use and whose symbol table has the names. Where its debug information is
// installed, unpacking that would take longer than the rest of the analysis.
bool is_c_library(const std::string& path) {
    const std::string name = path.substr(path.rfind('/') + 1);
    return name.starts_with("libc.so.") || name.starts_with("ld-linux") || name.starts_with("ld-musl");
}

const Dwfl_Callbacks callbacks = {dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo, nullptr, nullptr};

// All code that lay in memory at one time.
class generation {
public:
    generation(const std::vector<code_module>& modules, std::uint32_t number) : dwfl_(dwfl_begin(&callbacks)) {
        if (dwfl_ == nullptr) return;
        dwfl_report_begin(dwfl_);
        for (const code_module& module : modules) {
            if (module.generation != number || module.path.empty() || module.path.front() != '/') continue;
            if (dwfl_report_elf(dwfl_, module.path.c_str(), module.path.c_str(), -1, module.bias, true) == nullptr) continue;
        }
        dwfl_report_end(dwfl_, nullptr, nullptr);
    }
    ~generation() {
        if (dwfl_ != nullptr) dwfl_end(dwfl_);
    }
    generation(const generation&) = delete;
    generation& operator=(const generation&) = delete;

    std::vector<source_frame> at(std::uint64_t address, std::map<std::string, bool>& has_lines) {
        std::vector<source_frame> frames;
        Dwfl_Module* const module = dwfl_ == nullptr ? nullptr : dwfl_addrmodule(dwfl_, address);
        if (module == nullptr) return {source_frame{}};
        const char* const path = dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
        const std::string module_path = path != nullptr ? path : "";
        source_frame here;
        here.module = module_path;
        Dwarf_Addr bias = 0;
        const bool only_names = is_c_library(module_path);
        Dwarf_Die* const unit =
            only_names ? nullptr : unit_of(module, address, bias);    // looked up once: without an index this tries each unit
        if (Dwfl_Line* const line = only_names ? nullptr : line_of(module, unit, address)) {
            int number = 0;
            if (const char* const file = dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr)) {
                here.file = file;
                here.line = number;
            }
        }
        bool& lines = has_lines[module_path];
        lines = lines || here.line != 0;
        if (unit != nullptr) inlined(unit, address - bias, here, frames);
        // The function that holds them all has its name in the symbol table, which is better than the debugger's: it is
        // whole.
        if (const char* const name = dwfl_module_addrname(module, address)) here.function = demangled(name);
        frames.push_back(here);
        return frames;
    }

private:
    template <class T>
    struct code_range {
        Dwarf_Addr begin;
        Dwarf_Addr end;
        T what;
    };
    template <class T>
    static void add_ranges(Dwarf_Die& of, const T& what, std::vector<code_range<T>>& to) {
        Dwarf_Addr base = 0;
        Dwarf_Addr begin = 0;
        Dwarf_Addr end = 0;
        for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&of, at, &base, &begin, &end)) > 0;) to.push_back({begin, end, what});
    }
    template <class T>
    static T* find(std::vector<code_range<T>>& in, Dwarf_Addr address) {
        for (code_range<T>& one : in) {
            if (address >= one.begin && address < one.end) return &one.what;
        }
        return nullptr;
    }

    // The compilation unit that an address belongs to. GCC writes an index of them (.debug_aranges); for Clang, which does
    // not, one is made.
    Dwarf_Die* unit_of(Dwfl_Module* module, std::uint64_t address, Dwarf_Addr& bias) {
        if (Dwarf_Die* const found = dwfl_module_addrdie(module, address, &bias)) return found;
        const auto [place, fresh] = units_.try_emplace(module);
        if (fresh) {
            for (Dwarf_Die* each = nullptr; (each = dwfl_module_nextcu(module, each, &bias)) != nullptr;) {
                add_ranges(*each, each, place->second);    // a copy would not do: libdwfl knows what lies behind it
            }
        }
        if (dwfl_module_getdwarf(module, &bias) == nullptr) return nullptr;
        Dwarf_Die* const* const found = find(place->second, address - bias);
        return found != nullptr ? *found : nullptr;
    }

    // The functions below `in`. Clang puts them into their namespaces and classes, where dwarf_getscopes() does not look.
    static void add_functions(Dwarf_Die& in, std::vector<code_range<Dwarf_Die>>& to) {
        Dwarf_Die child;
        if (dwarf_child(&in, &child) != 0) return;
        do {
            switch (dwarf_tag(&child)) {
                case DW_TAG_subprogram: add_ranges(child, child, to); break;
                case DW_TAG_namespace:
                case DW_TAG_class_type:
                case DW_TAG_structure_type:
                case DW_TAG_union_type: add_functions(child, to); break;
                default: break;
            }
        } while (dwarf_siblingof(&child, &child) == 0);
    }

    // The scopes at an address, the function first, within it what was inlined there.
    std::vector<Dwarf_Die> scopes_at(Dwarf_Die* unit, Dwarf_Addr address) {
        const auto [place, fresh] = functions_.try_emplace(unit->addr);
        if (fresh) add_functions(*unit, place->second);
        std::vector<Dwarf_Die> scopes;
        Dwarf_Die* const function = find(place->second, address);
        if (function == nullptr) return scopes;
        scopes.push_back(*function);
        Dwarf_Die at;
        for (bool more = dwarf_child(function, &at) == 0; more;) {
            const int tag = dwarf_tag(&at);
            const bool scope = tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
                               tag == DW_TAG_catch_block;
            if (scope && dwarf_haspc(&at, address) == 1) {
                scopes.push_back(at);
                more = dwarf_child(&scopes.back(), &at) == 0;
            } else {
                more = dwarf_siblingof(&at, &at) == 0;
            }
        }
        return scopes;
    }

    static Dwfl_Line* line_of(Dwfl_Module* module, Dwarf_Die* unit, std::uint64_t address) {
        if (Dwfl_Line* const found = dwfl_module_getsrc(module, address)) return found;
        std::size_t lines = 0;
        if (unit == nullptr || dwfl_getsrclines(unit, &lines) != 0) return nullptr;
        Dwfl_Line* best = nullptr;    // the last that does not lie behind the address; they are in order of addresses
        for (std::size_t i = 0; i < lines; ++i) {
            Dwfl_Line* const line = dwfl_onesrcline(unit, i);
            Dwarf_Addr at = 0;
            if (line == nullptr || dwfl_lineinfo(line, &at, nullptr, nullptr, nullptr, nullptr) == nullptr) continue;
            if (at > address) break;
            best = line;
        }
        return best;
    }

    // Functions that were inlined at the address; `here` becomes the place in the function that holds them.
    void inlined(Dwarf_Die* unit, Dwarf_Addr address, source_frame& here, std::vector<source_frame>& frames) {
        std::vector<Dwarf_Die> scopes = scopes_at(unit, address);
        Dwarf_Files* files = nullptr;
        dwarf_getsrcfiles(unit, &files, nullptr);
        for (std::size_t i = scopes.size(); i-- > 0;) {
            const int tag = dwarf_tag(&scopes[i]);
            if (tag == DW_TAG_subprogram) here.function = name_of(&scopes[i]);
            if (tag != DW_TAG_inlined_subroutine) continue;
            here.function = name_of(&scopes[i]);
            here.inlined = true;
            frames.push_back(here);
            here.inlined = false;
            here.function.clear();
            Dwarf_Attribute attribute;
            Dwarf_Word number = 0;
            if (dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_file, &attribute), &number) == 0 && files != nullptr) {
                const char* const file = dwarf_filesrc(files, number, nullptr, nullptr);
                if (file != nullptr) here.file = file;
            }
            if (dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_line, &attribute), &number) == 0)
                here.line = static_cast<int>(number);
        }
    }

    Dwfl* dwfl_;
    std::unordered_map<Dwfl_Module*, std::vector<code_range<Dwarf_Die*>>> units_;      // of those without an index
    std::unordered_map<const void*, std::vector<code_range<Dwarf_Die>>> functions_;    // by unit
};

}    // namespace

struct symbols::implementation {
    const std::vector<code_module>& modules;
    std::map<std::uint32_t, std::unique_ptr<generation>> generations;
    std::map<std::uint32_t, std::unordered_map<std::uint64_t, std::vector<source_frame>>> known;
    std::map<std::string, bool> has_lines;
};

symbols::symbols(const std::vector<code_module>& modules) : self_(new implementation{modules, {}, {}, {}}) {}
symbols::~symbols() = default;

const std::vector<source_frame>& symbols::at(std::uint64_t return_address, std::uint32_t number) {
    const auto [place, fresh] = self_->known[number].try_emplace(return_address);
    if (fresh) {
        std::unique_ptr<generation>& of = self_->generations[number];
        if (!of) of = std::make_unique<generation>(self_->modules, number);
        place->second = of->at(return_address - 1, self_->has_lines);    // the call, not what comes after it
    }
    return place->second;
}

void symbols::remember(std::uint32_t number, std::uint64_t return_address, const std::vector<source_frame>& frames) {
    self_->known[number][return_address] = frames;
    for (const source_frame& frame : frames) {
        bool& lines = self_->has_lines[frame.module];
        lines = lines || frame.line != 0;
    }
}

std::string write_names(trace_totals& trace) {
    trace_writer out = trace_writer::more(trace.source);
    for (process_totals& process : trace.processes) {
        symbols names(process.modules);
        record_writer records;
        for (const auto& [number, stack] : process.stacks) {
            for (const std::uint64_t address : stack.frames) {
                const auto [place, fresh] = process.names.try_emplace({stack.generation, address});
                if (!fresh) continue;
                const std::vector<source_frame>& frames = place->second = names.at(address, stack.generation);
                records.begin(record::names);
                records.number(stack.generation);
                records.number(address);
                records.number(frames.size());
                for (const source_frame& frame : frames) {
                    records.text(frame.function);
                    records.text(frame.file);
                    records.number(static_cast<std::uint64_t>(frame.line));
                    records.text(frame.module);
                    records.number(frame.inlined ? 1 : 0);
                }
                if (records.size() >= block_size) out.write(process.number, records);
            }
        }
        out.write(process.number, records);
    }
    return out.failure();
}

std::vector<std::string> symbols::without_lines() const {
    std::vector<std::string> names;
    for (const auto& [module, lines] : self_->has_lines) {
        if (!lines) names.push_back(module);
    }
    return names;
}

}    // namespace headroom::profile
