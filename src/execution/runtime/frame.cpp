// Frames: the steps of a program bound to extents and addresses. Made with the context; later only filled in.
#include "runtime/frame.h"

#include "runtime/context.h"
#include "runtime/device/staging.h"
#include "runtime/loop.h"
#include "runtime/plugins/operator.h"

namespace tenfold::runtime {
namespace {

void add_extents(Frame& frame, const plan::Operand& o) {
  frame.extent_index.insert(frame.extent_index.end(), o.dims.begin(), o.dims.end());
  frame.extent_index.insert(frame.extent_index.end(), o.strides.begin(), o.strides.end());
}

ir::TensorRef host_reference(const plan::Operand& o) {
  ir::TensorRef ref;
  ref.dtype = o.dtype;
  ref.shape.assign(o.dims.size(), 0);
  return ref;
}

void* address_of(const plan::Operand& o, const Frame& frame, const ContextState& context) noexcept {
  const EngineState& engine = *context.engine;
  switch (o.at.space) {
    case plan::Space::none:
    case plan::Space::object:    // steps on whole values look there themselves
    case plan::Space::literal: return nullptr;
    case plan::Space::weights:
      return const_cast<std::byte*>(engine.bytes_of(static_cast<std::size_t>(o.at.index))) + o.at.offset;
    case plan::Space::arena: return frame.arena + o.at.offset;
    case plan::Space::binding: {
      void* base = frame.bindings[static_cast<std::size_t>(o.at.index)];
      return base ? static_cast<std::byte*>(base) + o.at.offset : nullptr;
    }
    case plan::Space::grown: {
      void* base = context.work.grown[static_cast<std::size_t>(o.at.index)].memory.get();
      return base ? static_cast<std::byte*>(base) + o.at.offset : nullptr;
    }
    case plan::Space::count_: break;
  }
  return nullptr;
}

std::shared_ptr<const void> kernel_of(const OpenStep& open) {
  if (!open.tactic || open.tactic->source != backends::Source::plugin) return open.kernel;
  try {
    return plugin_kernel(open.kernel);
  } catch (Error& e) {
    throw e.within("step '" + open.step->name + "' (" + open.step->op + ")");
  }
}

}  // namespace

Frame make_frame(const OpenProgram& program) {
  Frame frame;
  frame.open = &program;
  frame.bindings.assign(program.program->inputs.size() + program.program->outputs.size(), nullptr);
  for (const OpenStep& open : program.steps) {
    BoundStep& bound = frame.steps.emplace_back();
    bound.open = &open;
    bound.kernel = kernel_of(open);
    const plan::Step& step = *open.step;
    for (const plan::Operand& o : step.in) add_extents(frame, o), bound.in.push_back({.rank = static_cast<int>(o.dims.size())});
    for (const plan::Operand& o : step.out) add_extents(frame, o), bound.out.push_back({.rank = static_cast<int>(o.dims.size())});
    if (step.kind == plan::StepKind::host) {
      bound.call.node = open.host_node;
      for (const plan::Operand& o : step.in) bound.call.in.push_back(host_reference(o));
      for (const plan::Operand& o : step.out) bound.call.out.push_back(host_reference(o));
    }
    if (step.kind == plan::StepKind::branch || step.kind == plan::StepKind::loop || open.prologue)
      for (const plan::Operand& o : step.out) bound.result_shapes.push_back(host_reference(o));
    if (step.kind == plan::StepKind::loop)
      for (std::size_t c = 0; c < open.loop.carried; ++c) bound.loop.carried.emplace_back(step.out[c].dims.size(), 0);
    for (const OpenProgram& p : open.programs) bound.frames.push_back(make_frame(p));
  }
  frame.extents.assign(frame.extent_index.size(), 0);
  const std::int64_t* at = frame.extents.data();
  for (BoundStep& bound : frame.steps) {
    const auto place = [&](backends::Bound& b, const plan::Operand& o) {
      b.dims = at, at += o.dims.size();
      b.strides = at, at += o.strides.size();
    };
    for (std::size_t i = 0; i < bound.in.size(); ++i) place(bound.in[i], bound.open->step->in[i]);
    for (std::size_t i = 0; i < bound.out.size(); ++i) place(bound.out[i], bound.open->step->out[i]);
  }
  return frame;
}

void resolve_extents(Frame& frame, std::span<const std::int64_t> dims) noexcept {
  for (std::size_t i = 0; i < frame.extents.size(); ++i) frame.extents[i] = dims[static_cast<std::size_t>(frame.extent_index[i])];
  for (BoundStep& bound : frame.steps) {
    for (std::size_t i = 0; i < bound.call.in.size(); ++i)
      std::copy_n(bound.in[i].dims, bound.in[i].rank, bound.call.in[i].shape.begin());
    for (std::size_t i = 0; i < bound.call.out.size(); ++i)   // a shrunk shape of an earlier run keeps its rank
      std::copy_n(bound.out[i].dims, bound.out[i].rank, bound.call.out[i].shape.begin());
    for (Frame& nested : bound.frames) resolve_extents(nested, dims);
  }
}

void resolve_addresses(const ContextState& context, Frame& frame) noexcept {
  for (BoundStep& bound : frame.steps) {
    const plan::Step& step = *bound.open->step;
    for (std::size_t i = 0; i < bound.in.size(); ++i) bound.in[i].data = address_of(step.in[i], frame, context);
    for (std::size_t i = 0; i < bound.out.size(); ++i) bound.out[i].data = address_of(step.out[i], frame, context);
    for (std::size_t i = 0; i < bound.call.in.size(); ++i) bound.call.in[i].data = on_host(bound, i, bound.in[i].data);
    for (std::size_t i = 0; i < bound.call.out.size(); ++i) bound.call.out[i].data = on_host(bound, bound.in.size() + i, bound.out[i].data);
    for (Frame& nested : bound.frames) nested.arena = frame.arena + step.workspace_offset;
    if (step.kind == plan::StepKind::branch)   // the step's operands but the condition, then its results
      for (Frame& nested : bound.frames) {
        std::size_t at = 0;
        for (std::size_t i = 1; i < bound.in.size(); ++i) nested.bindings[at++] = bound.in[i].data;
        for (const backends::Bound& b : bound.out) nested.bindings[at++] = b.data;
      }
    if (step.kind == plan::StepKind::loop) bind_iteration(bound);
    for (Frame& nested : bound.frames) resolve_addresses(context, nested);
  }
}

}  // namespace tenfold::runtime
