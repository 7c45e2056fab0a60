// Values that a context binds and gives: strings, sequences, optionals and maps, which lie in no memory of a device.
#include "base/check.h"
#include "runtime/context.h"
#include "tenfold/bindings.h"

namespace tenfold::runtime {
namespace {

using Kind = ir::ValueType::Kind;

std::string misfit_of_tensor(const RuntimeValue& value, const ir::ValueType& type) {
  if (!value.is_tensor() || !value.tensor().defined()) return cat("is ", value.text(), ", ", ir::text(type), " expected");
  const Tensor& t = value.tensor();
  bool fits = t.dtype() == type.tensor.dtype && (!type.ranked || t.shape().size() == type.tensor.dims.size());
  for (std::size_t d = 0; fits && type.ranked && d < t.shape().size(); ++d)
    fits = !type.tensor.dims[d].is_constant() || type.tensor.dims[d].constant() == t.shape()[d];
  return fits ? "" : cat("is ", value.text(), ", ", ir::text(type), " expected");
}

std::string misfit_of_elements(const std::vector<RuntimeValue>& elements, const ir::ValueType& type) {
  for (std::size_t i = 0; i < elements.size(); ++i)
    if (const std::string wrong = misfit(elements[i], type); !wrong.empty()) return cat("has element ", i, ", which ", wrong);
  return "";
}

}  // namespace

std::string misfit(const RuntimeValue& value, const ir::ValueType& type) {
  if (type.kind == Kind::tensor) return misfit_of_tensor(value, type);
  if (type.kind == Kind::optional) return value.empty() ? "" : misfit(value, type.element());
  if (type.kind == Kind::sequence && value.is_sequence()) return misfit_of_elements(value.elements(), type.element());
  if (type.kind == Kind::map && value.is_map() && value.as_map().keys.dtype() == type.key)
    return misfit_of_elements(value.as_map().values, type.element());
  return cat("is ", value.text(), ", ", ir::text(type), " expected");
}

bool is_object(const EngineState& engine, std::size_t binding) { return !plan::lies_in_memory(engine.plan.bindings[binding].type); }

void make_objects(ContextState& c) {
  static std::byte nothing[64];   // an address where no byte is read or written
  std::size_t objects = 0;
  for (const OpenTop& top : c.engine->programs) objects = std::max(objects, top.body.program->objects.size());
  if (objects == 0) return;
  c.objects.values.resize(objects);
  c.objects.bound.assign(c.engine->bindings.size(), 0);
  for (std::size_t b = 0; b < c.engine->bindings.size(); ++b)
    if (is_object(*c.engine, b)) c.bindings.own[b] = {{std::shared_ptr<void>(), nothing}, 0};
}

namespace {

std::size_t checked(const EngineState& engine, int binding) {
  require(binding >= 0 && binding < static_cast<int>(engine.bindings.size()), ErrorKind::invalid_argument, "there is no binding ", binding,
          ", the engine has ", engine.bindings.size());
  return static_cast<std::size_t>(binding);
}

Status bind_checked(ExecutionContext& context, std::size_t b, RuntimeValue value) {
  ContextState& c = ContextAccess::of(context);
  const ir::ValueType& type = c.engine->plan.bindings[b].type;
  const auto number = static_cast<int>(b);
  c.run.last_error.clear();
  if (!is_object(*c.engine, b)) c.run.last_error = "it has memory, which bind() gives it";
  else if (number >= c.engine->inputs) c.run.last_error = "an output's value is read, not bound";
  else c.run.last_error = misfit(value, type);
  if (!c.run.last_error.empty()) return {Status::invalid_binding, number};
  if (type.is_tensor() && type.ranked)
    if (const Status status = context.set_input_shape(number, value.tensor().shape()); !status) return status;
  c.objects.values[b] = std::move(value);
  c.objects.bound[b] = 1;
  return {};
}

// A tensor of numbers for as long as the run takes.
void bind_tensor(ExecutionContext& context, std::size_t b, const RuntimeValue& value) {
  const BindingInfo& info = ContextAccess::of(context).engine->bindings[b];
  const auto number = static_cast<int>(b);
  const auto expect_ok = [&](Status s) { require(s.code == Status::ok, ErrorKind::invalid_argument, context.describe(s)); };
  if (value.empty() && info.has_default) return expect_ok(context.bind(number, nullptr, 0));
  require(!value.empty(), ErrorKind::invalid_argument, "input '", info.name, "' has no default, and no tensor is given for it");
  require(value.is_tensor(), ErrorKind::invalid_argument, "input '", info.name, "' is ", name(info.dtype), "[", text(info.shape), "], ",
          value.text(), " given");
  const Tensor& t = value.tensor();
  require(t.dtype() == info.dtype, ErrorKind::invalid_argument, "input '", info.name, "' is ", name(info.dtype), ", ", name(t.dtype()),
          " given");
  const Status shaped = context.set_input_shape(number, t.shape());
  require(shaped.code == Status::ok, ErrorKind::invalid_argument, "input '", info.name, "' has shape ",
          declared_text(info.shape), ", ", text(t.shape()), " given");
  expect_ok(context.bind(number, const_cast<void*>(t.raw()), t.bytes()));
}

RuntimeValue result_of(ExecutionContext& context, std::size_t b) {
  const ContextState& c = ContextAccess::of(context);
  if (is_object(*c.engine, b)) return c.objects.values[b];
  Tensor t(c.engine->bindings[b].dtype, context.shape(static_cast<int>(b)));
  if (t.bytes() > 0) std::memcpy(t.mutable_raw(), c.bindings.own[b].memory.get(), static_cast<std::size_t>(t.bytes()));
  return t;
}

}  // namespace
}  // namespace tenfold::runtime

namespace tenfold {

using runtime::ContextAccess;
using runtime::ContextState;

std::string binding_type(const Engine& engine, int binding) {
  const runtime::EngineState& e = *runtime::state_of(engine);
  return ir::text(e.plan.bindings[runtime::checked(e, binding)].type);
}
bool binds_values(const Engine& engine, int binding) {
  const runtime::EngineState& e = *runtime::state_of(engine);
  return runtime::is_object(e, runtime::checked(e, binding));
}

Status bind_value(ExecutionContext& context, int binding, RuntimeValue value) noexcept {
  const ContextState& c = ContextAccess::of(context);
  if (binding < 0 || binding >= static_cast<int>(c.bindings.memory.size())) return {Status::invalid_binding, binding};
  try {
    return runtime::bind_checked(context, static_cast<std::size_t>(binding), std::move(value));
  } catch (...) {
    return {Status::out_of_memory, -1};
  }
}

RuntimeValue bound_value(const ExecutionContext& context, int binding) {
  const ContextState& c = ContextAccess::of(context);
  const std::size_t b = runtime::checked(*c.engine, binding);
  require(runtime::is_object(*c.engine, b), ErrorKind::invalid_argument, "binding '", c.engine->bindings[b].name,
          "' lies in memory: own_memory(), or what was bound");
  return c.objects.values[b];
}

std::vector<RuntimeValue> run_values(ExecutionContext& context, const std::vector<RuntimeValue>& inputs, const RunOptions& options) {
  ContextState& c = ContextAccess::of(context);
  const auto count = static_cast<std::size_t>(c.engine->inputs);
  require(inputs.size() == count, ErrorKind::invalid_argument, "the engine has ", count, count == 1 ? " input, " : " inputs, ",
          inputs.size(), " given");
  const auto expect_ok = [&](Status s) { require(s.code == Status::ok, ErrorKind::invalid_argument, context.describe(s)); };
  for (std::size_t b = 0; b < count; ++b)
    if (runtime::is_object(*c.engine, b)) expect_ok(bind_value(context, static_cast<int>(b), inputs[b]));
    else runtime::bind_tensor(context, b, inputs[b]);
  for (std::size_t b = count; b < c.bindings.memory.size(); ++b) {
    if (runtime::is_object(*c.engine, b)) continue;
    context.own_memory(static_cast<int>(b));
    expect_ok(context.bind(static_cast<int>(b), nullptr, 0));   // its own
  }
  const Status status = context.run_with(options);
  for (std::size_t b = 0; b < count; ++b)
    if (!runtime::is_object(*c.engine, b)) context.bind(static_cast<int>(b), nullptr, 0);   // the tensors may go away
  require(status.code == Status::ok, runtime::kind_of(status.code), context.describe(status));
  std::vector<RuntimeValue> results;
  for (std::size_t b = count; b < c.bindings.memory.size(); ++b) results.push_back(runtime::result_of(context, b));
  return results;
}

}  // namespace tenfold
