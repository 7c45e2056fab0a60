// The convenient form of a run, tensors in and tensors out, and the words for a status.
#include "backends/stream.h"
#include "base/checked.h"
#include "plan/names.h"
#include "runtime/context.h"
#include "runtime/shape_refusal.h"
#include "tenfold/bindings.h"

namespace tenfold {
namespace {

// What is wrong with the memory of binding `b`, where that is its size.
std::string memory_refusal(const runtime::ContextState& c, std::size_t b) {
  const std::int64_t needed = c.shapes.changed ? -1 : runtime::bytes_of_binding(c, b);
  if (needed <= c.bindings.bytes[b]) return "";
  return cat(": ", c.bindings.bytes[b], " bytes are bound, the shapes set need ", needed);
}

// With whom binding `b` shares memory, if it was refused for that.
std::string overlap_refusal(const runtime::ContextState& c, std::size_t b) {
  if (static_cast<std::size_t>(c.bindings.overlapping[0]) != b || c.bindings.overlapping[1] < 0) return "";
  const BindingInfo& other = c.engine->bindings[static_cast<std::size_t>(c.bindings.overlapping[1])];
  return cat(": it shares memory with ", other.is_input ? "input '" : "output '", other.name,
             other.is_input ? "', which is still read when it is written" : "'");
}

std::string_view words(Status::Code code) {
  switch (code) {
    case Status::not_ready: return "not ready";
    case Status::invalid_shape: return "invalid shape";
    case Status::invalid_binding: return "invalid binding";
    case Status::bad_index: return "index out of range";
    case Status::too_large: return "data-dependent size above its bound";
    case Status::out_of_memory: return "out of memory";
    case Status::device: return "device error";
    case Status::deadline: return "past its deadline";
    case Status::invalid_input: return "invalid input";
    case Status::ok:
    case Status::cancelled:
    case Status::failed: break;
  }
  return name(code);
}

}  // namespace

ErrorKind runtime::kind_of(Status::Code code) {
  switch (code) {
    case Status::cancelled:
    case Status::deadline: return ErrorKind::cancelled;
    case Status::out_of_memory: return ErrorKind::out_of_memory;
    case Status::device: return ErrorKind::device;
    case Status::failed: return ErrorKind::internal;
    default: return ErrorKind::invalid_argument;
  }
}

std::vector<Tensor> ExecutionContext::run(const std::vector<Tensor>& inputs) { return run(inputs, {}); }

std::vector<Tensor> ExecutionContext::run(const std::vector<Tensor>& inputs, const RunOptions& options) {
  std::vector<RuntimeValue> values;
  for (const Tensor& t : inputs) values.push_back(t.defined() ? RuntimeValue(t) : RuntimeValue());
  std::vector<Tensor> results;
  for (const RuntimeValue& v : run_values(*this, values, options)) {
    const BindingInfo& info = state_->engine->bindings[static_cast<std::size_t>(state_->engine->inputs) + results.size()];
    require(v.is_tensor(), ErrorKind::invalid_argument, "output '", info.name, "' is ", v.text(), ": run_values() gives it");
    results.push_back(v.tensor());
  }
  return results;
}

std::string ExecutionContext::describe(Status status) const {
  const runtime::ContextState& c = *state_;
  std::string what(words(status.code));
  const bool about_binding =
      status.code == Status::not_ready || status.code == Status::invalid_shape || status.code == Status::invalid_binding;
  if (about_binding && status.step >= 0 && status.step < static_cast<int>(c.engine->bindings.size())) {
    const BindingInfo& b = c.engine->bindings[static_cast<std::size_t>(status.step)];
    what = cat(b.is_input ? "input '" : "output '", b.name, "': ", what);
    if (status.code == Status::not_ready) what += " (bind memory and set its shape first)";
    if (status.code == Status::invalid_binding) {
      what += overlap_refusal(c, static_cast<std::size_t>(status.step));
      if (!c.run.last_error.empty()) what += ": " + c.run.last_error;
    }
    if (status.code == Status::invalid_shape && b.is_input) what += runtime::shape_refusal(c, static_cast<std::size_t>(status.step));
    if (status.code == Status::invalid_binding) what += memory_refusal(c, static_cast<std::size_t>(status.step));
    return what;
  }
  if (status.code == Status::invalid_binding && status.step >= 0)
    return cat("there is no binding ", status.step, ": the engine has ", c.engine->bindings.size(), ", numbered from 0");
  if (status.code == Status::invalid_shape && c.shapes.refused_profile)
    return cat("there is no profile ", *c.shapes.refused_profile, ": the plan has ", c.frames.size(), ", numbered from 0");
  if (c.shapes.active >= 0 && status.step >= 0) {
    const auto& steps = c.top().body.steps;
    if (status.step < static_cast<int>(steps.size())) {
      const plan::Step& step = *steps[static_cast<std::size_t>(status.step)].step;
      what = cat("step '", step.name, "' (", step.op, plan::computed_text(c.engine->plan, step), "): ", what);
    }
  }
  const bool of_device = status.code == Status::device || (status.code == Status::out_of_memory && c.run.last_error.empty());
  if (of_device && !c.stream->error().empty()) what += cat(": ", c.stream->error());
  if (!status && !c.run.last_error.empty()) what += ": " + c.run.last_error;
  return what;
}

}  // namespace tenfold
