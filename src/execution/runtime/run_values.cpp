// Host steps on whole values: operands gathered from memory and objects, the interpreter asked, results put where later steps look.
#include <cstring>

#include "ops/interpret.h"
#include "plan/extent.h"
#include "runtime/context.h"
#include "runtime/engine/host_graphs.h"

namespace tenfold::runtime {
namespace {

using plan::Space;

// What a sequence keeps must not lie in memory that later steps write.
RuntimeValue owned(const ir::TensorRef& in) {
  const RuntimeValue value = borrowed(in);
  return value.empty() ? value : RuntimeValue(value.tensor().clone());
}

std::vector<RuntimeValue> operands_of(const ContextState& c, const BoundStep& bound) {
  const plan::Step& step = *bound.open->step;
  const bool kept = std::any_of(step.out.begin(), step.out.end(), [](const plan::Operand& o) { return o.at.space == Space::object; });
  std::vector<RuntimeValue> operands;
  for (std::size_t i = 0; i < step.in.size(); ++i) {
    const auto index = static_cast<std::size_t>(step.in[i].at.index);
    if (step.in[i].at.space == Space::object) operands.push_back(c.objects.values[index]);
    else if (step.in[i].at.space == Space::literal) operands.emplace_back(c.engine->plan.literals[index]);
    else operands.push_back(kept ? owned(bound.call.in[i]) : borrowed(bound.call.in[i]));
  }
  return operands;
}

// Extents of what came out; an object that is no tensor has none.
Status note_shapes(const ContextState& c, const BoundStep& bound, const std::vector<RuntimeValue>& results,
                   std::vector<ir::TensorRef>& shapes) {
  const plan::Step& step = *bound.open->step;
  const plan::Program& top = c.program();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const plan::Operand& out = step.out[i];
    const RuntimeValue& result = results.at(i);
    if (out.at.space == Space::object) {
      const std::string wrong = misfit(result, top.objects[static_cast<std::size_t>(out.at.index)]);
      require(wrong.empty(), ErrorKind::invalid_model, "result ", i, " ", wrong);
      if (out.dims.empty()) continue;
    }
    const Tensor& t = result.tensor();
    if ((out.at.space != Space::object && t.dtype() != shapes[i].dtype) || t.shape().size() != shapes[i].shape.size())
      return {Status::failed, -1};
    shapes[i].shape = t.shape();
  }
  return {};
}

Status place(ContextState& c, BoundStep& bound, std::size_t i, const Tensor& t) {
  if (t.bytes() == 0) return {};
  if (!c.device) {
    std::memcpy(bound.out[i].data, t.raw(), static_cast<std::size_t>(t.bytes()));
    return {};
  }
  return {c.stream->copy(bound.out[i].data, t.raw(), t.bytes()), -1};
}

}  // namespace

Status run_on_values(ContextState& c, BoundStep& bound) {
  std::vector<RuntimeValue> results = ops::run_node(*bound.open->host_node, operands_of(c, bound));
  std::vector<ir::TensorRef> shapes = bound.call.out;
  if (const Status status = note_shapes(c, bound, results, shapes); !status) return status;
  if (!bound.open->step->defines.empty())
    if (const Status status = define_symbols(c, bound, shapes); !status) return status;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].shape != bound.call.out[i].shape)
      return {Status::invalid_shape, -1};  // two symbols of one size, or a size that is no symbol
    const plan::Address& at = bound.open->step->out[i].at;
    if (at.space == Space::object) c.objects.values[static_cast<std::size_t>(at.index)] = std::move(results[i]);
    else if (const Status status = place(c, bound, i, results[i].tensor()); !status) return status;
  }
  return c.device ? Status{c.stream->wait(), -1} : Status{};  // the results' tensors go away
}

}  // namespace tenfold::runtime
