// headroom describe bash|zsh|fish|manual: completions for shells and the commands' part of the manual page, made of what the verbs
// say of themselves, so that none is ever behind.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "verb.hpp"

namespace headroom::tools { namespace {

std::string described(const std::string& as, const std::vector<describe::command>& all) {
    if (as == "bash") return describe::bash_completion(all);
    if (as == "zsh") return describe::zsh_completion(all);
    if (as == "fish") return describe::fish_completion(all);
    return describe::manual_sections(all);
}

std::function<int()> set_up(CLI::App& app) {
    auto as = std::make_shared<std::string>();
    app.add_option("SHELL", *as, "bash, zsh, fish, or manual")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish", "manual"}));
    return [as, &app] {
        const std::string text = described(*as, describe::all_commands(*app.get_parent()));
        if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
            throw std::runtime_error(std::string("cannot write standard output: ") + std::strerror(errno));
        }
        return 0;
    };
}

const registered_verb describe_verb("describe", "Print completions for a shell, or the commands of the manual page", set_up);

}    // namespace
}    // namespace headroom::tools
