// Control flow on the interpreter, between the memory of a step and the tensors of the reference kernels.
#include "runtime/engine/host_graphs.h"

#include "base/check.h"
#include "ir/text.h"
#include "ops/control_run.h"

namespace tenfold::runtime {

void load_graphs(ir::Node& node, const ir::Registry& registry) {
  if (!node.attributes.has("graphs")) return;
  std::vector<std::shared_ptr<const ir::Constant>> constants;
  for (std::string key = "constant_0"; node.attributes.has(key); key = "constant_" + std::to_string(constants.size())) {
    auto constant = std::make_shared<ir::Constant>();
    constant->tensor = node.attributes.tensor(key);
    constants.push_back(std::move(constant));
    node.attributes.erase(key);
  }
  for (const std::string& text : node.attributes.strings("graphs"))
    node.graphs.push_back(std::make_unique<ir::Graph>(ir::parse_graph(text, registry, {.constants = &constants})));
  node.attributes.erase("graphs");
}

ops::RuntimeValue borrowed(const ir::TensorRef& in) {
  if (!in.data) return std::monostate{};
  return Tensor(in.dtype, in.shape, std::shared_ptr<const void>(in.data, [](const void*) {}), in.data);
}

void run_graphs(ir::Call& call) {
  std::vector<ops::RuntimeValue> operands;
  for (const ir::TensorRef& in : call.in) operands.push_back(borrowed(in));
  const std::vector<ops::RuntimeValue> results = ops::run_control(*call.node, operands);
  for (std::size_t i = 0; i < call.out.size(); ++i) {
    const Tensor& t = std::get<Tensor>(results.at(i));
    require(t.size() <= call.out[i].size() && t.dtype() == call.out[i].dtype, ErrorKind::invalid_argument, "a loop's result of shape ",
            text(t.shape()), " is larger than its upper bound ", text(call.out[i].shape));
    if (t.bytes() > 0) std::memcpy(call.out[i].data, t.raw(), static_cast<std::size_t>(t.bytes()));
    call.shrink(static_cast<int>(i), t.shape());
  }
}

}  // namespace tenfold::runtime
