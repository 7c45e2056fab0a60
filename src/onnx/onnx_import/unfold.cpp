#include "onnx_import/unfold.h"

#include <algorithm>

namespace tenfold::onnx_import {
namespace {

constexpr int kMaxNestedCalls = 64;   // the import follows no more

template <class F>
void for_each_body(const onnx::NodeProto& node, F&& f) {
  for (const auto& attribute : node.attribute) {
    if (attribute.g) f(*attribute.g);
    for (const auto& graph : attribute.graphs) f(graph);
  }
}

}  // namespace

std::int64_t Unfolding::of(const onnx::NodeProto& node) {
  std::int64_t sum = 1 + of_call({node.domain == "ai.onnx" ? "" : node.domain, node.op_type, node.overload});
  for_each_body(node, [&](const onnx::GraphProto& body) { sum += of(body.node); });
  return std::min(sum, kMaxCounted);
}

std::int64_t Unfolding::of(const std::vector<onnx::NodeProto>& nodes) {
  std::int64_t sum = 0;
  for (const auto& node : nodes) sum = std::min(sum + of(node), kMaxCounted);
  return sum;
}

std::int64_t Unfolding::of_call(const FunctionKey& key) {
  const auto function = functions_.find(key);
  if (function == functions_.end() || depth_ >= kMaxNestedCalls) return 0;
  const auto [known, fresh] = known_.try_emplace(key, 0);   // 0 while it is open: what it says inside of its own function
  if (!fresh) return known->second;
  ++depth_;
  known->second = of(function->second->node);
  --depth_;
  return known->second;
}

std::int64_t written_nodes(const std::vector<onnx::NodeProto>& nodes) {
  auto count = static_cast<std::int64_t>(nodes.size());
  for (const auto& node : nodes) for_each_body(node, [&](const onnx::GraphProto& body) { count += written_nodes(body.node); });
  return count;
}

}  // namespace tenfold::onnx_import
