// Writing a file so that nothing is lost: whole, or not at all.
#pragma once

#include <string>

namespace headroom::tools::tune {

// Writes `content` beside `path` and renames it there, so that what was in the file is kept until the new content is on the
// disk; a device or a pipe is written to as it is, and "-" is standard output. Follows a symbolic link. Throws std::runtime_error
// that says what failed; then the file is as it was.
void write_whole(const std::string& path, const std::string& content);

// Throws what write_whole() would throw, as far as that can be known before: no such folder, no permission.
void require_writable(const std::string& path);

}    // namespace headroom::tools::tune
