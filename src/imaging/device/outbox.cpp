// Three parcels are under way at most: one is written, one copied, one handed on.
#include "device/outbox.h"

namespace tenfold::imaging {

Outbox::Outbox(DeviceWork& work, std::int64_t bytes) : work_(work), bytes_(bytes) {
  constexpr int kSlots = 3;
  for (int i = 0; i < kSlots; ++i)
    slots_.push_back({work.allocate(bytes), work.allocate_pinned(bytes), work.make_event(), work.make_event()});
  stream_ = work.make_stream();
}

void* Outbox::begin() {
  if (parcels_.size() == slots_.size()) deliver_first();
  return slots_[next_].device.get();
}

void Outbox::end(std::int64_t bytes, void* stream, std::function<void(const std::byte*)> deliver) {
  const Slot& slot = slots_[next_];
  work_.record(slot.written.get(), stream);
  work_.follow(stream_.get(), slot.written.get());
  work_.copy(slot.pinned.get(), slot.device.get(), bytes, stream_.get());
  work_.record(slot.arrived.get(), stream_.get());
  parcels_.push_back({next_, std::move(deliver)});
  next_ = (next_ + 1) % slots_.size();
}

void Outbox::deliver_first() {
  const Parcel parcel = std::move(parcels_.front());
  parcels_.pop_front();
  work_.wait(slots_[parcel.slot].arrived.get());
  parcel.deliver(static_cast<const std::byte*>(slots_[parcel.slot].pinned.get()));
}

void Outbox::finish() {
  while (!parcels_.empty()) deliver_first();
}

}  // namespace tenfold::imaging
