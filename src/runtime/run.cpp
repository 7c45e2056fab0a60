// Running a frame: kernels, reference kernels on the host, copies, and the programs that control flow owns.
#include <chrono>

#include "base/element.h"
#include "plan/extent.h"
#include "runtime/host_graphs.h"
#include "runtime/state.h"

namespace tenfold::runtime {
namespace {

using plan::StepKind;

// After a step that defines symbols: their values from the real result shapes, and every dim that follows from them.
Status define_symbols(ContextState& c, const BoundStep& bound, const std::vector<ir::TensorRef>& results) noexcept {
  const OpenTop& top = c.engine->programs[static_cast<std::size_t>(c.active)];
  const plan::Step& step = *bound.open->step;
  for (std::int32_t symbol : step.defines) {
    const ir::Dim wanted = top.symbol_dims[static_cast<std::size_t>(symbol)];
    for (std::size_t o = 0; o < step.out.size(); ++o)
      for (std::size_t d = 0; d < step.out[o].dims.size(); ++d)
        if (top.body.program->dims[static_cast<std::size_t>(step.out[o].dims[d])] == wanted)
          c.symbols[static_cast<std::size_t>(symbol)] = results[o].shape[d];
    if (c.symbols[static_cast<std::size_t>(symbol)] > top.symbol_defaults[static_cast<std::size_t>(symbol)]) return {Status::too_large, -1};
  }
  const std::span dims(c.dims.data(), top.dims.size());
  if (!top.dims.evaluate({c.symbols.data(), top.symbols.size()}, dims)) return {Status::invalid_shape, -1};
  if (!plan::extents_fit(c.engine->plan, *top.body.program, dims)) return {Status::invalid_shape, -1};
  resolve_extents(c.frames[static_cast<std::size_t>(c.active)], dims);
  return {};
}

Status run_host(ContextState& c, BoundStep& bound) noexcept {
  try {
    if (bound.open->host_node->graphs.empty()) bound.open->host_node->def->reference(bound.call);
    else run_graphs(bound.call);
  } catch (const Error& e) {
    c.last_error = e.what();
    return {e.kind() == ErrorKind::out_of_memory ? Status::out_of_memory : e.kind() == ErrorKind::invalid_argument ? Status::bad_index : Status::failed, -1};
  } catch (const std::bad_alloc&) {
    return {Status::out_of_memory, -1};
  } catch (const std::exception& e) {
    c.last_error = e.what();
    return {Status::failed, -1};
  }
  return bound.open->step->defines.empty() ? Status{} : define_symbols(c, bound, bound.call.out);
}

// The taken branch runs with the step's operands as its bindings.
Status run_branch(ContextState& c, BoundStep& bound) noexcept {
  const bool taken = *static_cast<const std::uint8_t*>(bound.in[0].data) != 0;
  Frame& frame = bound.frames[taken ? 0 : 1];
  std::size_t at = 0;
  for (std::size_t i = 1; i < bound.in.size(); ++i) frame.bindings[at++] = bound.in[i].data;
  for (const backends::Bound& b : bound.out) frame.bindings[at++] = b.data;
  resolve_addresses(frame, *c.engine);
  Status status = run_frame(c, frame);
  if (!status || bound.open->step->defines.empty()) return status;
  // The branches' result shapes differ: those of the one that ran give the symbols their values.
  const plan::Program& program = *frame.open->program;
  for (std::size_t o = 0; o < program.outputs.size(); ++o)
    for (std::size_t d = 0; d < program.outputs[o].dims.size(); ++d)
      bound.result_shapes[o].shape[d] = c.dims[static_cast<std::size_t>(program.outputs[o].dims[d])];
  return define_symbols(c, bound, bound.result_shapes);
}

Status run_step(ContextState& c, Frame& frame, BoundStep& bound) noexcept {
  const OpenStep& open = *bound.open;
  const plan::Step& step = *open.step;
  switch (step.kind) {
    case StepKind::kernel: {
      const backends::RunArgs args{bound.in, bound.out, frame.arena + step.workspace_offset, &c.stream->parallel(), c.scratch, c.engine->scratch_stride};
      return {c.stream->launch(*open.tactic, open.kernel.get(), args), -1};
    }
    case StepKind::host: return run_host(c, bound);
    case StepKind::copy: {
      std::int64_t elements = 1;
      for (int d = 0; d < bound.out[0].rank; ++d) elements *= bound.out[0].dims[d];
      const std::int64_t bytes = (elements * bits(step.out[0].dtype) + 7) / 8;
      return {c.stream->copy(bound.out[0].data, bound.in[0].data, bytes), -1};
    }
    case StepKind::branch: return run_branch(c, bound);
    case StepKind::loop: return {Status::failed, -1};   // loops run as host steps; see plan.h
  }
  return {Status::failed, -1};
}

}  // namespace

Status run_frame(ContextState& c, Frame& frame) noexcept {
  const bool profiled = c.profiler && &frame == &c.frames[static_cast<std::size_t>(c.active)];
  int number = 0;
  for (BoundStep& bound : frame.steps) {
    if (c.cancelled.load(std::memory_order_relaxed)) return {Status::cancelled, number};
    Status status;
    if (profiled) {
      const auto start = std::chrono::steady_clock::now();
      status = run_step(c, frame, bound);
      c.profiler(bound.open->step->name, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    } else {
      status = run_step(c, frame, bound);
    }
    if (!status) return {status.code, status.step >= 0 ? status.step : number};
    ++number;
  }
  return {};
}

}  // namespace tenfold::runtime
