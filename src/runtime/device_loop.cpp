// Loops on a device with memory of its own: the host counts and decides, the body's steps run there. What the body reads of the count
// is brought to it; slices that do not start where tactics may count on lie in a place of their own for their iteration.
#include "runtime/state.h"

namespace tenfold::runtime {
namespace {

constexpr std::uintptr_t kAlignment = 64;   // that tactics may count on

bool aligned(const void* p) noexcept { return reinterpret_cast<std::uintptr_t>(p) % kAlignment == 0; }

// Slices that lie in a place of their own now: copied there, or back to where they belong.
Status copy_slices(ContextState& c, BoundStep& bound, bool in) noexcept {
  const plan::LoopForm& form = bound.open->loop;
  for (std::size_t s = in ? 0 : form.sliced; s < (in ? form.sliced : form.sliced + form.stacked); ++s) {
    const LoopSlice slice = loop_slice(bound, s);
    void* const place = placed_slice(bound, s);
    if (place == slice.at || slice.bytes == 0) continue;
    const Status::Code code = in ? c.stream->copy(place, slice.at, slice.bytes) : c.stream->copy(slice.at, place, slice.bytes);
    if (code != Status::ok) return {code, -1};
  }
  return {};
}

}  // namespace

void* placed_slice(const BoundStep& bound, std::size_t s) noexcept {
  void* const lies = loop_slice(bound, s).at;
  const auto& places = bound.on_device.slices;
  return s < places.size() && places[s].memory && !aligned(lies) ? places[s].memory.get() : lies;
}

Status start_loop(ContextState& c, BoundStep& bound) noexcept {
  if (!bound.on_device.header) return {};
  const plan::LoopForm& form = bound.open->loop;
  try {
    bound.on_device.slices.resize(form.sliced + form.stacked);
  } catch (const std::bad_alloc&) {
    return {Status::out_of_memory, -1};
  }
  for (std::size_t s = 0; s < form.sliced + form.stacked; ++s) {
    const LoopSlice first = loop_slice(bound, s);
    if (first.bytes % static_cast<std::int64_t>(kAlignment) == 0 && aligned(first.at)) continue;
    if (!grow(c, bound.on_device.slices[s], first.bytes)) return {Status::out_of_memory, -1};
  }
  return form.header ? Status{c.stream->copy(bound.on_device.go(), &bound.loop.go, sizeof bound.loop.go), -1} : Status{};
}

Status start_iteration(ContextState& c, BoundStep& bound) noexcept {
  if (!bound.on_device.header) return {};
  if (bound.open->loop.header) {
    const auto code = c.stream->copy(bound.on_device.iteration(), &bound.loop.iteration, sizeof bound.loop.iteration);
    if (code != Status::ok) return {code, -1};
  }
  return copy_slices(c, bound, true);
}

Status finish_iteration(ContextState& c, BoundStep& bound) noexcept {
  if (!bound.on_device.header) return {};
  if (Status s = copy_slices(c, bound, false); !s) return s;
  if (!bound.open->loop.header) return {};
  const auto code = c.stream->copy(&bound.loop.next, bound.on_device.next(), sizeof bound.loop.next);
  return {code == Status::ok ? c.stream->wait() : code, -1};
}

}  // namespace tenfold::runtime
