// The window of a RowRing's stream as the input of a LatencyRunner.
#pragma once

#include "tenfold/row_ring.h"

namespace tenfold::low_latency {

struct RingWindow {
  const void* memory = nullptr;   // null: there is no such stream, or its window is no whole input
  std::int32_t missing = 0;       // rows that were not pushed yet
};

inline RingWindow window_of(const RowRing& rows, std::int64_t stream, std::int64_t input_bytes) noexcept {
  if (rows.rows() * rows.row_bytes() != input_bytes) return {};
  const void* const memory = rows.window(stream);
  return {memory, memory ? static_cast<std::int32_t>(rows.rows() - rows.filled(stream)) : 0};
}

}  // namespace tenfold::low_latency
