// Requests for inference that no model's statistics have, and answers that could not be written. With them, every request is counted:
// the sum over models of what they received, and these, are all requests that the server read.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace tenfold::server {

enum class Unassigned : std::uint8_t { not_ready, unknown_model, malformed };
inline constexpr std::array<std::string_view, 3> kUnassignedNames = {"not_ready", "unknown_model", "malformed"};

struct RequestCounts {
  std::array<std::atomic<std::uint64_t>, kUnassignedNames.size()> unassigned{};
  std::atomic<std::uint64_t> unwritten = 0;  // the model ran, but the answer cannot be written in the form that was asked for
  std::atomic<std::uint64_t> worker_starts = 1;                // of this server, with this process
  void count(Unassigned why) noexcept { ++unassigned[static_cast<std::size_t>(why)]; }
};
inline RequestCounts& request_counts() {
  static RequestCounts counts;
  return counts;
}

}  // namespace tenfold::server
