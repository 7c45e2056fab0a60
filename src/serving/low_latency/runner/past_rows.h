// PastRows: the rows of a window before its newest, in a context's own memory and in messages.
#pragma once

#include <cstddef>
#include <cstdint>

#include "low_latency/ring/messages.h"

namespace tenfold::low_latency {

class PastRows {
 public:
  PastRows() = default;   // of an engine whose windows come as a whole
  // `memory`: the context's own, of the part that holds the rows.
  PastRows(const MessageLayout& layout, const WindowRows& rows, std::byte* memory);
  explicit operator bool() const noexcept { return memory_ != nullptr; }

  // Whether the past rows of a message are those in memory.
  bool same(const std::byte* message) const noexcept;
  // Whether they are those in memory, moved up by one. Only where rows lie one behind the other.
  bool follows(const std::byte* message) const noexcept;
  void copy_past(const std::byte* message) noexcept;
  void copy_newest(const std::byte* message) noexcept;
  bool can_move() const noexcept { return blocks_ == 1; }
  void move_up() noexcept;   // the second row becomes the first

 private:
  std::byte* memory_ = nullptr;
  std::int64_t offset_ = 0;                    // of the part in a message
  std::size_t blocks_ = 0, past_ = 0, row_ = 0;  // each block holds `past_` bytes, and the newest row's behind them
};

}  // namespace tenfold::low_latency
