// Finished planes on their way from a GPU to sinks: copied while later windows are computed, handed on in order.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

#include "device/pinned_pieces.h"

namespace tenfold::imaging {

class Outbox {
 public:
  // `bytes`: of the largest parcel.
  Outbox(DeviceWork& work, std::int64_t bytes);
  std::int64_t bytes() const { return bytes_; }
  // Memory of the GPU for a parcel that work on `stream` is about to write; `bytes` at most those of above.
  void* begin();
  // The parcel is there once what is on `stream` now is done. Then `deliver` gets it in the host's memory, in this
  // thread, behind all parcels before it.
  void end(std::int64_t bytes, void* stream, std::function<void(const std::byte*)> deliver);
  void finish();   // delivers all

 private:
  struct Slot { std::shared_ptr<void> device, pinned, written, arrived; };
  struct Parcel { std::size_t slot; std::function<void(const std::byte*)> deliver; };
  void deliver_first();

  DeviceWork& work_;
  std::int64_t bytes_;
  std::vector<Slot> slots_;
  std::shared_ptr<void> stream_;       // ends, when it is done, before what it copies
  std::deque<Parcel> parcels_;
  std::size_t next_ = 0;
};

}  // namespace tenfold::imaging
