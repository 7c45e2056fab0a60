// Contexts of traces, as W3C's header `traceparent` has them, and as spans do.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenfold::server {

struct TraceContext {
  std::array<std::uint8_t, 16> trace{};
  std::array<std::uint8_t, 8> span{};
  bool sampled = false;  // by who called
};
// "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01". Nothing: it is not one, so a trace of its own begins.
std::optional<TraceContext> parse_traceparent(std::string_view text);
TraceContext new_trace();  // of random numbers
std::array<std::uint8_t, 8> new_span();
// A span of a batch: all that ran in it name the same one, without a word between them.
TraceContext batch_context(std::string_view model, std::string_view version, std::int64_t start_ns);
std::string hex(const std::array<std::uint8_t, 16>& bytes);
std::string hex(const std::array<std::uint8_t, 8>& bytes);

}  // namespace tenfold::server
