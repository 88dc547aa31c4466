// Times and sizes as a person reads them.
#pragma once

#include <cstddef>
#include <string>

namespace headroom::tools::tune {

[[nodiscard]] std::string time_text(double seconds);       // "1.25 us"
[[nodiscard]] std::string size_text(std::size_t bytes);    // "256 KiB"

}    // namespace headroom::tools::tune
