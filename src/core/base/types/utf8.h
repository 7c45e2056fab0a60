// Names are UTF-8 (RFC 3629), which all interfaces can show; values that are strings may hold any bytes.
#pragma once

#include <string>
#include <string_view>

namespace tenfold {

// No overlong forms, no surrogates, nothing beyond U+10FFFF.
bool is_utf8(std::string_view text) noexcept;
// Text that is UTF-8 as it is, else with "\xff" in the place of each byte above 0x7f: for messages, and for names of files.
std::string readable(std::string_view text);

}  // namespace tenfold
