// Running a frame: kernels, reference kernels on the host, copies, and the programs that control flow owns.
#include "runtime/run.h"

#include <chrono>

#include "backends/stream.h"
#include "plan/extent.h"
#include "plan/step_node.h"
#include "runtime/context.h"
#include "runtime/device/link.h"
#include "runtime/device/staging.h"
#include "runtime/device/graph_branches.h"
#include "runtime/engine/host_graphs.h"
#include "runtime/loop.h"
#include "runtime/plugins/operator.h"
#include "runtime/step_fault.h"

namespace tenfold::runtime {
namespace {

using plan::StepKind;

Status run_host(ContextState& c, BoundStep& bound) noexcept {
  if (Status s = stage_in(c, bound); !s) return s;
  try {
    if (bound.open->grows || bound.open->on_values) return run_on_values(c, bound);
    if (bound.open->host_node->graphs.empty()) bound.open->host_node->def->reference(bound.call);
    else run_graphs(bound.call);
  } catch (...) {
    return fault_of_exception(c);
  }
  if (!bound.open->step->defines.empty())  // first, so that no more is copied than there is
    if (Status s = define_symbols(c, bound, bound.call.out); !s) return s;
  return stage_out(c, bound);
}

// The branches' result shapes differ: those of the one that is taken give the symbols their values.
Status define_taken(ContextState& c, BoundStep& bound, const plan::Program& taken) noexcept {
  for (std::size_t o = 0; o < taken.outputs.size(); ++o)
    for (std::size_t d = 0; d < taken.outputs[o].dims.size(); ++d)
      bound.result_shapes[o].shape[d] = c.shapes.dims[static_cast<std::size_t>(taken.outputs[o].dims[d])];
  return define_symbols(c, bound, bound.result_shapes);
}

// Results that grow get their memory before they are computed: their sizes are known by then.
Status size_taken(ContextState& c, BoundStep& bound, const plan::Program& taken) noexcept {
  for (const plan::Operand& o : taken.outputs)
    if (!is_known(c, o.dims)) return {Status::failed, -1};
  if (const Status status = define_taken(c, bound, taken); !status) return status;
  for (std::size_t o = 0; o < taken.outputs.size(); ++o) {   // a damaged plan may say otherwise
    const auto needed = plan::formal_bytes(taken.outputs[o], c.shapes.dims);
    const auto given = plan::formal_bytes(bound.open->step->out[o], c.shapes.dims);
    if (!needed || !given || *needed > *given) return {Status::invalid_shape, -1};
  }
  return {};
}

// The taken branch runs with the step's operands as its bindings.
Status run_branch(ContextState& c, BoundStep& bound) noexcept {
  if (Status s = stage_in(c, bound); !s) return s;
  const bool taken = *static_cast<const std::uint8_t*>(decided_by(bound, 0)) != 0;
  Frame& frame = bound.frames[taken ? 0 : 1];
  const plan::Program& program = *frame.open->program;
  if (bound.open->grows)
    if (Status s = size_taken(c, bound, program); !s) return s;
  const Status status = run_frame(c, frame);
  return status && !bound.open->grows && !bound.open->step->defines.empty() ? define_taken(c, bound, program) : status;
}

bool same_extents(const std::vector<Shape>& shapes, const std::vector<backends::Bound>& operands) noexcept {
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (i >= shapes.size() || !std::equal(shapes[i].begin(), shapes[i].end(), operands[i].dims, operands[i].dims + operands[i].rank))
      return false;
  return true;
}

// Kernels rely on extents that the operator wants equal; symbols in them are values only now. Allocates at new shapes only.
Status check_agreement(ContextState& c, BoundStep& bound) noexcept {
  if (bound.agreed.size() == bound.in.size() && same_extents(bound.agreed, bound.in)) return {};
  try {
    std::vector<Shape> extents;
    for (const backends::Bound& b : bound.in) extents.emplace_back(b.dims, b.dims + b.rank);
    plan::check_extents(c.engine->plan, c.program(), *bound.open->step, extents, *c.engine->registry);
    bound.agreed = std::move(extents);
    return {};
  } catch (...) {
    return fault_of_exception(c);
  }
}

Status run_step(ContextState& c, Frame& frame, BoundStep& bound) noexcept {
  const OpenStep& open = *bound.open;
  if (open.may_disagree)
    if (const Status status = check_agreement(c, bound); !status) return status;
  const plan::Step& step = *open.step;
  switch (step.kind) {
    case StepKind::kernel: {
      void* workspace = step.workspace_dynamic >= 0 ? c.work.grown[static_cast<std::size_t>(step.workspace_dynamic)].memory.get()
                                                  : frame.arena + step.workspace_offset;
      const backends::RunArgs args{bound.in, bound.out, workspace, &c.stream->parallel(), c.work.scratch, c.engine->scratch_stride};
      const Status::Code code = c.stream->launch(*open.tactic, bound.kernel.get(), args);
      if (code != Status::ok && open.tactic->source == backends::Source::plugin)
        c.run.last_error = plugin_failure(bound.kernel.get());
      return {code, -1};
    }
    case StepKind::host: return run_host(c, bound);
    case StepKind::copy: {
      if (bound.out[0].data == bound.in[0].data) return {};  // the caller bound it in place
      std::int64_t elements = 1;
      for (int d = 0; d < bound.out[0].rank; ++d) elements *= bound.out[0].dims[d];
      const std::int64_t bytes = (elements * bits(step.out[0].dtype) + 7) / 8;
      return {c.stream->copy(bound.out[0].data, bound.in[0].data, bytes), -1};
    }
    case StepKind::branch: return run_branch(c, bound);
    case StepKind::loop: return run_loop(c, frame, bound);
    case StepKind::count_: break;
  }
  return {Status::failed, -1};
}

}  // namespace

Status check_agreements(ContextState& c) noexcept {
  const OpenTop& top = c.top();
  if (top.steps_define()) return {};   // some extents are found in the run
  c.run.last_error.clear();
  int number = 0;
  for (BoundStep& bound : c.frame().steps) {
    if (bound.open->may_disagree)
      if (const Status status = check_agreement(c, bound); !status) return {status.code, number};
    ++number;
  }
  return {};
}

namespace {
// What a failed step answers: in a body, the step that owns it has to. Numbers of bindings stay.
Status refusal(ContextState& c, const BoundStep& bound, Status status, int number, bool top) noexcept {
  if (status.code == Status::invalid_binding && status.step >= 0) return status;
  if (status.code == Status::invalid_shape) status.code = Status::invalid_input;   // sizes found in the run that contradict each other
  if (is_of_values(status.code)) add_operands(c, bound, !top);
  return {status.code, top ? number : -1};
}

// Sends the step to its branch, behind those of other branches that it needs.
Status enter_branch(ContextState& c, const BranchPlan& plan, int number) noexcept {
  const BranchPlan::Place& place = plan.steps[static_cast<std::size_t>(number)];
  Status status{c.device->capturer->use_branch(place.branch), -1};
  for (int other : place.follows)
    if (status) status.code = c.device->capturer->follow(place.branch, other);
  return status;
}
}  // namespace

Status run_frame(ContextState& c, Frame& frame) noexcept { return run_steps(c, frame, 0, frame.steps.size()); }

Status run_steps(ContextState& c, Frame& frame, std::size_t first, std::size_t last) noexcept {
  const bool top = &frame == &c.frame(), profiled = c.watch.step_timer && top;
  if (top) c.run.last_error.clear();
  const BranchPlan* const branches = c.device ? c.device->branches : nullptr;
  for (std::size_t step = first; step < last; ++step) {
    BoundStep& bound = frame.steps[step];
    const auto number = static_cast<int>(step);
    if (const Status::Code stop = stopped(c.run); stop != Status::ok) return {stop, top ? number : -1};
    Status status;
    const MarkedRange range(c.watch, bound.open->step->name.c_str());
    if (branches)
      if (status = enter_branch(c, *branches, number); !status) return status;
    if (profiled) {
      const auto start = std::chrono::steady_clock::now();
      status = run_step(c, frame, bound);
      if (status) status.code = c.stream->wait();
      const auto ms = [](auto duration) { return std::chrono::duration<double, std::milli>(duration).count(); };
      c.watch.step_timer({bound.open->step->name, ms(start - c.watch.run_start), ms(std::chrono::steady_clock::now() - start)});
    } else {
      status = run_step(c, frame, bound);
    }
    if (status && c.watch.observer) status = observe(c, bound);
    if (status && branches && branches->steps[step].followed) status.code = c.device->capturer->note(branches->steps[step].branch, number);
    if (!status) return refusal(c, bound, status, number, top);
  }
  return {};
}

}  // namespace tenfold::runtime
