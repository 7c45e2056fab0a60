// Running a loop step: its body's program again and again, with bindings that move from iteration to iteration.
#include "runtime/loop.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "backends/stream.h"
#include "plan/extent.h"
#include "runtime/context.h"
#include "runtime/device/loop.h"
#include "runtime/device/staging.h"

namespace tenfold::runtime {
namespace {

std::int64_t slice_bytes(const backends::Bound& whole, DType dtype) noexcept {
  std::int64_t elements = 1;
  for (int d = 1; d < whole.rank; ++d) elements *= whole.dims[d];
  return elements * bits(dtype) / 8;
}
std::int64_t dense_bytes(const backends::Bound& b, DType dtype) noexcept {
  std::int64_t elements = 1;
  for (int d = 0; d < b.rank; ++d) elements *= b.dims[d];
  return (elements * bits(dtype) + 7) / 8;
}

// Carried values have two places; iterations write them in turn. The first is the result's, unless its extents change.
std::size_t written_place(const BoundStep& bound, std::size_t carried, std::int64_t iteration) noexcept {
  const bool second = (iteration % 2 != 0) != bound.loop.second_first;
  return bound.open->sizes.places[carried][second];
}

// Makes room for slice `i` of every stack.
Status make_room(ContextState& c, const Frame& frame, BoundStep& bound, std::int64_t i) noexcept {
  const plan::Step& step = *bound.open->step;
  for (std::size_t s = bound.open->loop.carried; s < bound.open->loop.first_spare(); ++s) {
    const backends::Bound& stack = bound.out[s];
    if (bound.open->sizes.grows[s - bound.open->loop.carried]) {
      if (bound.open->out_backwards[s - bound.open->loop.carried]) return {Status::failed, -1};   // from which end, nobody knows
      if (const Status room = grow_operand(c, frame, step.out[s], (i + 1) * slice_bytes(stack, step.out[s].dtype)); !room) return room;
    } else if (i >= stack.dims[0]) {
      return {Status::too_large, -1};
    }
  }
  return {};
}

// What the last iteration left in the second place, or the operand itself if there was none, becomes the result.
Status finish_carried(ContextState& c, BoundStep& bound, std::int64_t count) noexcept {
  const plan::LoopForm& form = bound.open->loop;
  for (std::size_t i = 0; i < form.carried; ++i) {
    const backends::Bound& from = count == 0 ? bound.in[form.header + i] : bound.out[written_place(bound, i, count - 1)];
    const std::int64_t bytes = dense_bytes(from, bound.open->step->out[i].dtype);
    if (from.data == bound.out[i].data || bytes == 0) continue;
    if (const Status::Code copied = stream_of(c).copy(bound.out[i].data, from.data, bytes); copied != Status::ok) return {copied, -1};
  }
  return {};
}

// The sizes of the results. Stacks are as long as the loop ran; a length that was promised must have come true. Carried values that change
// their extents, and their places, have those of the last iteration.
Status define_results(ContextState& c, BoundStep& bound, std::int64_t count) noexcept {
  const plan::Step& step = *bound.open->step;
  const plan::LoopForm& form = bound.open->loop;
  const LoopSizes& sizes = bound.open->sizes;
  for (std::size_t s = 0; s < step.out.size(); ++s) std::copy_n(bound.out[s].dims, bound.out[s].rank, bound.result_shapes[s].shape.begin());
  for (std::size_t s = form.carried; s < form.first_spare(); ++s) {
    std::int64_t& length = bound.result_shapes[s].shape[0];
    if (!sizes.counted[s - form.carried] && count != length) return {Status::invalid_shape, -1};
    length = count;
  }
  for (std::size_t i = 0; i < form.carried; ++i)
    for (const std::size_t place : {i, sizes.places[i][0], sizes.places[i][1]})
      if (sizes.changes[i]) std::ranges::copy(bound.loop.carried[i], bound.result_shapes[place].shape.begin());
  if (step.defines.empty()) return {};
  forget_sizes(c, step.defines);   // those of an iteration were of the body alone
  if (const Status status = define_symbols(c, bound, bound.result_shapes); !status) return status;
  for (std::size_t i = 0; i < form.carried; ++i)   // a damaged plan may have one size for two of them
    if (sizes.changes[i] && !std::ranges::equal(bound.loop.carried[i], std::span(bound.out[i].dims, bound.loop.carried[i].size())))
      return {Status::invalid_shape, -1};
  return {};
}

void enter_carried(BoundStep& bound) noexcept {
  const plan::LoopForm& form = bound.open->loop;
  for (std::size_t i = 0; i < form.carried; ++i) {
    Shape& extents = bound.loop.carried[i];
    if (bound.open->sizes.changes[i]) std::copy_n(bound.in[form.header + i].dims, extents.size(), extents.begin());
  }
}
void leave_carried(const ContextState& c, BoundStep& bound) noexcept {
  const plan::LoopForm& form = bound.open->loop;
  const plan::Program& body = bound.open->step->programs[0];
  for (std::size_t i = 0; i < form.carried; ++i) {
    if (!bound.open->sizes.changes[i]) continue;
    const std::vector<plan::DimIndex>& dims = body.outputs[form.body_header() + i].dims;
    for (std::size_t d = 0; d < dims.size(); ++d) bound.loop.carried[i][d] = c.shapes.dims[static_cast<std::size_t>(dims[d])];
  }
}

Status run_iteration(ContextState& c, const Frame& frame, BoundStep& bound) noexcept {
  Frame& body = bound.frames[0];
  if (const Status room = make_room(c, frame, bound, bound.loop.iteration); !room) return room;
  if (const Status status = enter_iteration(c, bound); !status) return status;
  bind_iteration(bound);
  resolve_addresses(c, body);
  if (const Status status = start_iteration(c, bound); !status) return status;
  if (const Status status = run_frame(c, body); !status) return status;
  leave_carried(c, bound);
  return finish_iteration(c, bound);
}

}  // namespace

LoopSlice loop_slice(const BoundStep& bound, std::size_t s) noexcept {
  const plan::Step& step = *bound.open->step;
  const plan::LoopForm& form = bound.open->loop;
  const bool is_input = s < form.sliced;
  const std::size_t i = is_input ? form.header + form.carried + s : form.carried + s - form.sliced;
  const backends::Bound& whole = is_input ? bound.in[i] : bound.out[i];
  const bool backwards = is_input ? bound.open->in_backwards[s] : bound.open->out_backwards[s - form.sliced];
  const std::int64_t index = backwards ? whole.dims[0] - 1 - bound.loop.iteration : bound.loop.iteration;
  const std::int64_t bytes = slice_bytes(whole, is_input ? step.in[i].dtype : step.out[i].dtype);
  return {whole.data ? static_cast<std::byte*>(whole.data) + index * bytes : nullptr, bytes};
}

void bind_iteration(BoundStep& bound) noexcept {
  const plan::LoopForm& form = bound.open->loop;
  LoopState& state = bound.loop;
  const LoopHeader header = loop_header(bound);
  std::vector<void*>& bindings = bound.frames[0].bindings;
  std::size_t at = 0;
  if (form.header) {
    bindings[at++] = header.iteration;
    bindings[at++] = header.go;
  }
  for (std::size_t c = 0; c < form.carried; ++c)
    bindings[at++] = state.iteration == 0 ? bound.in[form.header + c].data : bound.out[written_place(bound, c, state.iteration - 1)].data;
  for (std::size_t i = form.header + form.carried; i < bound.in.size(); ++i) {
    const std::size_t s = i - form.header - form.carried;
    bindings[at++] = s < form.sliced ? placed_slice(bound, s) : bound.in[i].data;
  }
  if (form.header) bindings[at++] = header.next;
  for (std::size_t c = 0; c < form.carried; ++c) bindings[at++] = bound.out[written_place(bound, c, state.iteration)].data;
  for (std::size_t s = 0; s < form.stacked; ++s) bindings[at++] = placed_slice(bound, form.sliced + s);
}

Status size_carried(ContextState& c, BoundStep& bound, bool& moved) noexcept {
  const plan::LoopForm& form = bound.open->loop;
  const plan::Step& step = *bound.open->step;
  for (std::size_t i = 0; i < form.carried; ++i) {
    const plan::Operand& leaving = step.programs[0].outputs[form.body_header() + i];
    if (!bound.open->sizes.changes[i] || !is_known(c, leaving.dims)) continue;
    const auto bytes = plan::formal_bytes(leaving, c.shapes.dims);
    if (!bytes) return {Status::invalid_shape, -1};
    const auto place = static_cast<std::size_t>(step.out[written_place(bound, i, bound.loop.iteration)].at.index);
    DynamicBuffer& buffer = c.work.grown[place];
    if (*bytes <= buffer.bytes) continue;
    moved = true;
    if (!grow(c, buffer, std::max(*bytes, buffer.bytes + buffer.bytes / 2))) return {Status::out_of_memory, -1};
  }
  return {};
}

Status run_loop(ContextState& c, Frame& frame, BoundStep& bound) noexcept {
  const plan::LoopForm& form = bound.open->loop;
  LoopState& state = bound.loop;
  if (Status s = stage_in(c, bound); !s) return s;
  const void* const max_trips = form.header ? decided_by(bound, 0) : nullptr;
  const void* const go = form.header ? decided_by(bound, 1) : nullptr;
  const std::int64_t limit = !form.header ? bound.in[form.carried].dims[0]
                             : max_trips       ? *static_cast<const std::int64_t*>(max_trips)
                                          : std::numeric_limits<std::int64_t>::max();
  state.go = !go || *static_cast<const std::uint8_t*>(go) != 0;
  state.second_first = bound.in[0].data && limit % 2 == 0;   // if nothing ends it early, the last iteration writes the result
  state.iteration = 0;
  if (Status s = start_loop(c, bound); !s) return s;
  enter_carried(bound);
  const RunningLoop running{&bound, c.work.loop};
  c.work.loop = &running;
  Status status;
  for (; status && state.iteration < limit && state.go; ++state.iteration) {
    status = run_iteration(c, frame, bound);
    if (form.header) state.go = state.next != 0;
  }
  c.work.loop = running.outer;
  const std::int64_t count = std::exchange(state.iteration, 0);
  if (status) status = define_results(c, bound, count);
  return status ? finish_carried(c, bound, count) : status;
}

}  // namespace tenfold::runtime
