// Loops on a device with memory of its own: the host counts and decides, the body's steps run there. What the body reads of the count
// is brought to it; slices that do not start where tactics may count on lie in a place of their own for their iteration.
#include "runtime/device/loop.h"

#include "backends/stream.h"
#include "runtime/device/staging.h"
#include "runtime/loop.h"
#include "runtime/run.h"

namespace tenfold::runtime {
namespace {

constexpr std::uintptr_t kAlignment = 64;   // that tactics may count on

bool aligned(const void* p) noexcept { return reinterpret_cast<std::uintptr_t>(p) % kAlignment == 0; }

// Its three words, each at a place that tactics may count on.
std::byte* word(const BoundStep& bound, int number) noexcept {
  return static_cast<std::byte*>(bound.on_device->loop_header.get()) + number * static_cast<int>(kAlignment);
}

// Slices that lie in a place of their own now: copied there, or back to where they belong.
Status copy_slices(ContextState& c, BoundStep& bound, bool in) noexcept {
  const plan::LoopForm& form = bound.open->loop;
  for (std::size_t s = in ? 0 : form.sliced; s < (in ? form.sliced : form.sliced + form.stacked); ++s) {
    const LoopSlice slice = loop_slice(bound, s);
    void* const place = placed_slice(bound, s);
    if (place == slice.at || slice.bytes == 0) continue;
    const Status::Code code = in ? stream_of(c).copy(place, slice.at, slice.bytes) : stream_of(c).copy(slice.at, place, slice.bytes);
    if (code != Status::ok) return {code, -1};
  }
  return {};
}

}  // namespace

LoopHeader loop_header(BoundStep& bound) noexcept {
  LoopState& state = bound.loop;
  if (!bound.on_device) return {&state.iteration, &state.go, &state.next};
  return {word(bound, 0), word(bound, 1), word(bound, 2)};
}

void* placed_slice(const BoundStep& bound, std::size_t s) noexcept {
  void* const lies = loop_slice(bound, s).at;
  if (!bound.on_device) return lies;
  const std::vector<DynamicBuffer>& places = bound.on_device->slices;
  return s < places.size() && places[s].memory && !aligned(lies) ? places[s].memory.get() : lies;
}

Status start_loop(ContextState& c, BoundStep& bound) noexcept {
  if (!bound.on_device) return {};
  const plan::LoopForm& form = bound.open->loop;
  try {
    bound.on_device->slices.resize(form.sliced + form.stacked);
  } catch (const std::bad_alloc&) {
    return {Status::out_of_memory, -1};
  }
  for (std::size_t s = 0; s < form.sliced + form.stacked; ++s) {
    const LoopSlice first = loop_slice(bound, s);
    if (first.bytes % static_cast<std::int64_t>(kAlignment) == 0 && aligned(first.at)) continue;
    if (!grow(c, bound.on_device->slices[s], first.bytes)) return {Status::out_of_memory, -1};
  }
  return form.header ? Status{stream_of(c).copy(loop_header(bound).go, &bound.loop.go, sizeof bound.loop.go), -1} : Status{};
}

Status start_iteration(ContextState& c, BoundStep& bound) noexcept {
  if (!bound.on_device) return {};
  if (bound.open->loop.header) {
    const auto code = stream_of(c).copy(loop_header(bound).iteration, &bound.loop.iteration, sizeof bound.loop.iteration);
    if (code != Status::ok) return {code, -1};
  }
  return copy_slices(c, bound, true);
}

Status finish_iteration(ContextState& c, BoundStep& bound) noexcept {
  if (!bound.on_device) return {};
  if (Status s = copy_slices(c, bound, false); !s) return s;
  if (!bound.open->loop.header) return {};
  const auto code = stream_of(c).copy(&bound.loop.next, loop_header(bound).next, sizeof bound.loop.next);
  return {code == Status::ok ? stream_of(c).wait() : code, -1};
}

}  // namespace tenfold::runtime
