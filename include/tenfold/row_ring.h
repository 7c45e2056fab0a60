// RowRing: the last rows of a stream, always in one piece of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tenfold/export.h"

namespace tenfold {

// For each stream a ring of rows whose memory is mapped twice, one after the other. So the last `rows` rows lie in one
// piece, wherever the ring begins, and a push copies one row. A stream has zeros for rows that were not pushed yet.
//
// Pushes neither allocate, lock nor enter the kernel. One thread uses a stream at a time; streams are independent.
class TENFOLD_API RowRing {
 public:
  // A row of 50 floats has row_bytes 200. Throws invalid_argument, and out_of_memory where the system has no memory or
  // no mappings left: it needs two for each stream (sysctl vm.max_map_count).
  RowRing(std::int64_t rows, std::int64_t row_bytes, std::int64_t streams = 1);
  ~RowRing();
  RowRing(RowRing&&) noexcept;
  RowRing& operator=(RowRing&&) noexcept;

  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t row_bytes() const noexcept { return row_bytes_; }
  std::int64_t streams() const noexcept { return streams_; }
  // Copies the row after the others, and returns the window: the oldest of the last rows first. The window before it
  // stays as it is until the next push. Null: there is no such stream, or `row` is null. LatencyRunner::infer()
  // then answers invalid_binding, and RunnerPort::submit() takes no such request.
  const void* push(std::int64_t stream, const void* row) noexcept;
  const void* window(std::int64_t stream) const noexcept;          // without a push; null: there is no such stream
  // How many of the window's rows were pushed. Below rows() the first ones are zeros.
  std::int64_t filled(std::int64_t stream) const noexcept;
  void clear(std::int64_t stream) noexcept;                        // all zeros again: a gap, a new day

 private:
  struct Stream { std::byte* memory = nullptr; std::int64_t end = 0, pushed = 0; };
  void close() noexcept;
  std::int64_t rows_ = 0, row_bytes_ = 0, streams_ = 0, ring_bytes_ = 0;
  std::byte* memory_ = nullptr;
  std::unique_ptr<Stream[]> all_;
};

}  // namespace tenfold
