// Running a loop step: its body's program again and again, with bindings that move from iteration to iteration.
#include "runtime/loop.h"

#include <limits>
#include <utility>

#include "backends/stream.h"
#include "runtime/device/loop.h"
#include "runtime/device/staging.h"
#include "runtime/memory.h"
#include "runtime/run.h"
#include "runtime/shapes.h"

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

// Carried values have two places; iterations write them in turn. The first is the result's.
std::size_t written_place(const BoundStep& bound, std::size_t carried, std::int64_t iteration) noexcept {
  const bool second = (iteration % 2 != 0) != bound.loop.second_first;
  return second ? bound.open->loop.first_spare() + carried : carried;
}

// Makes room for slice `i` of every stack.
Status make_room(ContextState& c, const Frame& frame, BoundStep& bound, std::int64_t i) noexcept {
  const plan::Step& step = *bound.open->step;
  for (std::size_t s = bound.open->loop.carried; s < bound.open->loop.first_spare(); ++s) {
    const backends::Bound& stack = bound.out[s];
    if (bound.open->grows) {
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

// The stacks are as long as the loop ran; a length that was promised must have come true.
Status finish_stacks(ContextState& c, BoundStep& bound, std::int64_t count) noexcept {
  const plan::Step& step = *bound.open->step;
  const plan::LoopForm& form = bound.open->loop;
  for (std::size_t s = 0; s < step.out.size(); ++s) {
    ir::TensorRef& result = bound.result_shapes[s];
    std::copy_n(bound.out[s].dims, bound.out[s].rank, result.shape.begin());
    if (s < form.carried || s >= form.first_spare()) continue;
    if (step.defines.empty() && count != result.shape[0]) return {Status::invalid_shape, -1};
    result.shape[0] = count;
  }
  return step.defines.empty() ? Status{} : define_symbols(c, bound, bound.result_shapes);
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

Status run_loop(ContextState& c, Frame& frame, BoundStep& bound) noexcept {
  const plan::LoopForm& form = bound.open->loop;
  LoopState& state = bound.loop;
  Frame& body = bound.frames[0];
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
  for (; state.iteration < limit && state.go; ++state.iteration) {
    if (const Status room = make_room(c, frame, bound, state.iteration); !room) return room;
    if (const Status status = forget_symbols(c, *body.open); !status) return status;
    bind_iteration(bound);
    resolve_addresses(c, body);
    if (const Status status = start_iteration(c, bound); !status) return status;
    if (const Status status = run_frame(c, body); !status) return status;
    if (const Status status = finish_iteration(c, bound); !status) return status;
    if (form.header) state.go = state.next != 0;
  }
  const std::int64_t count = std::exchange(state.iteration, 0);
  if (const Status status = finish_carried(c, bound, count); !status) return status;
  return finish_stacks(c, bound, count);
}

}  // namespace tenfold::runtime
