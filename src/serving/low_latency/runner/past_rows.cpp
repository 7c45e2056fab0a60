// Comparing and moving rows. Nothing here allocates.
#include "low_latency/runner/past_rows.h"

#include <cstring>

#include "base/types/element.h"

namespace tenfold::low_latency {

PastRows::PastRows(const MessageLayout& layout, const WindowRows& rows, std::byte* memory) {
  for (const MessageTensor& part : layout.inputs) {
    if (part.binding != rows.input) continue;
    const Shape& shape = layout.bindings[static_cast<std::size_t>(part.binding)].shape;
    const auto axis = static_cast<std::size_t>(rows.axis);
    std::int64_t blocks = 1, row = 1;
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (d != axis) (d < axis ? blocks : row) *= shape[d];
    const std::int64_t bytes = byte_size(part.dtype, row);
    if (part.bytes == 0 || blocks * shape[axis] * bytes != part.bytes) return;   // rows that share bytes
    memory_ = memory, offset_ = part.offset;
    blocks_ = static_cast<std::size_t>(blocks), row_ = static_cast<std::size_t>(bytes);
    past_ = static_cast<std::size_t>((shape[axis] - 1) * bytes);
  }
}

bool PastRows::same(const std::byte* message) const noexcept {
  for (std::size_t b = 0; b < blocks_; ++b)
    if (const std::size_t at = b * (past_ + row_); std::memcmp(memory_ + at, message + offset_ + at, past_) != 0) return false;
  return true;
}

bool PastRows::follows(const std::byte* message) const noexcept {
  return blocks_ == 1 && std::memcmp(memory_ + row_, message + offset_, past_) == 0;
}

void PastRows::copy_past(const std::byte* message) noexcept {
  for (std::size_t b = 0; b < blocks_; ++b)
    if (const std::size_t at = b * (past_ + row_); past_ != 0) std::memcpy(memory_ + at, message + offset_ + at, past_);
}

void PastRows::copy_newest(const std::byte* message) noexcept {
  for (std::size_t b = 0; b < blocks_; ++b)
    if (const std::size_t at = b * (past_ + row_) + past_; row_ != 0) std::memcpy(memory_ + at, message + offset_ + at, row_);
}

void PastRows::move_up() noexcept { std::memmove(memory_, memory_ + row_, past_); }

}  // namespace tenfold::low_latency
