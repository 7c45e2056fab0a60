// The program tenfold-server, which stands beside this one.
#pragma once

#include <string>
#include <vector>

namespace tenfold::cli {

// Has it take this program's place. Throws Error where it is not there.
[[noreturn]] void run_server(const std::vector<std::string>& arguments);

}  // namespace tenfold::cli
