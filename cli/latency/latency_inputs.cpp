// Random messages, and windows that slide.
#include "latency/latency_inputs.h"

#include <algorithm>

namespace tenfold::cli {
namespace {

constexpr std::int64_t kMaxWindows = 16;   // of one stream: then its rows come again

std::vector<std::byte> random_message(const LatencyRunner& runner, unsigned& seed) {
  std::vector<std::byte> message(static_cast<std::size_t>(runner.input_bytes()));
  for (std::size_t b = 0; b < runner.bindings().size(); ++b) {
    const BindingInfo& info = runner.bindings()[b];
    if (!info.is_input || info.dtype != DType::f32) continue;   // other types stay zeros, which every index may be
    std::byte* const at = message.data() + runner.offset(static_cast<int>(b));
    for (std::int64_t i = 0; i < element_count(info.shape); ++i) {
      seed = seed * 1664525u + 1013904223u;
      const float value = static_cast<float>((seed >> 8) / double(1 << 23) - 1);
      std::copy_n(reinterpret_cast<const std::byte*>(&value), sizeof value, at + i * 4);
    }
  }
  return message;
}

// The message whose window begins `by` rows later, where the first `period` rows of `from` come again and again.
std::vector<std::byte> slid(const LatencyRunner& runner, const std::vector<std::byte>& from, std::int64_t by, std::int64_t period) {
  std::vector<std::byte> message = from;
  const WindowRows rows = runner.window_rows();
  const BindingInfo& info = runner.bindings()[static_cast<std::size_t>(rows.input)];
  const std::int64_t count = info.shape[static_cast<std::size_t>(rows.axis)];
  std::int64_t blocks = 1;
  for (int d = 0; d < rows.axis; ++d) blocks *= info.shape[static_cast<std::size_t>(d)];
  const std::int64_t row = byte_size(info.dtype, element_count(info.shape)) / (blocks * count), begin = runner.offset(rows.input);
  for (std::int64_t b = 0; b < blocks; ++b)
    for (std::int64_t r = 0; r < count; ++r)
      std::copy_n(from.data() + begin + (b * count + (by + r) % period) * row, row, message.data() + begin + (b * count + r) * row);
  return message;
}

}  // namespace

LatencyInputs::LatencyInputs(const LatencyRunner& runner, int streams) {
  unsigned seed = 17;
  for (int s = 0; s < streams; ++s) messages_.push_back(random_message(runner, seed));
  if (const WindowRows rows = runner.window_rows(); rows.input >= 0) {
    const Shape& shape = runner.bindings()[static_cast<std::size_t>(rows.input)].shape;
    const std::int64_t windows = std::min(shape[static_cast<std::size_t>(rows.axis)], kMaxWindows);
    const std::vector<std::vector<std::byte>> first = std::move(messages_);
    messages_.clear();
    for (std::int64_t by = 0; by < windows; ++by)
      for (const auto& message : first) messages_.push_back(slid(runner, message, by, windows));
  }
  for (const auto& message : messages_) pointers_.push_back(message.data());
}

}  // namespace tenfold::cli
