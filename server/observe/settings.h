// Settings of traces and logs by name, as Triton's extensions show and change them. HTTP and gRPC write them each in its form.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tenfold::server {

// In the order in which Triton shows them. The level is a list, all others are one text.
std::vector<std::pair<std::string, std::vector<std::string>>> shown_trace_settings(const std::string& model);

using LogValue = std::variant<bool, std::uint32_t, std::string>;
std::vector<std::pair<std::string, LogValue>> shown_log_settings();
// Throws Error: invalid_argument, unsupported. Names that are not known change nothing, as in Triton.
void update_log_settings(const std::map<std::string, LogValue>& update);

}  // namespace tenfold::server
