// The sections of the manual page that the verbs' own words make.
#include <string>

#include "commands.hpp"

namespace headroom::tools::describe {
namespace {

// Nothing in it is an order to troff: a hyphen of a flag is one to copy, and no line begins with a dot or an apostrophe.
std::string plain(const std::string& text) {
    std::string result;
    for (const char letter : text) {
        switch (letter) {
            case '\\': result += "\\e"; break;
            case '-': result += "\\-"; break;
            case '\n': result += ' '; break;
            default: result += letter;
        }
    }
    return result.empty() || (result[0] != '.' && result[0] != '\'') ? result : "\\&" + result;
}

// What may follow the words of a verb.
std::string usage(const command& of) {
    std::string text = "\\fBheadroom" + plain(of.path()) + "\\fR";
    if (!of.flags.empty()) text += " [\\fIFLAGS\\fR]";
    for (const std::string& name : of.arguments) text += " \\fI" + plain(name) + "\\fR";
    return text;
}

}    // namespace

std::string manual_sections(const std::vector<command>& all) {
    std::string text = ".SH SYNOPSIS\n";
    bool first = true;
    for (const command& one : all) {
        if (one.words.empty() || (!one.verbs.empty() && one.arguments.empty())) continue;
        text += (first ? "" : ".br\n") + usage(one) + "\n";
        first = false;
    }
    text += ".SH COMMANDS\n";
    for (const command& one : all) {
        if (one.words.empty()) continue;
        text += ".SS \"headroom" + plain(one.path()) + "\"\n" + plain(one.summary) + ".\n";
        for (const flag& each : one.flags) {
            text += ".TP\n";
            bool next = false;
            for (const std::string& name : each.names) {
                text += std::string(next ? ", " : "") + "\\fB" + plain(name) + "\\fR";
                next = true;
            }
            if (each.takes_value) text += " \\fIVALUE\\fR";
            text += "\n" + plain(each.help) + ".\n";
        }
    }
    return text;
}

}    // namespace headroom::tools::describe
