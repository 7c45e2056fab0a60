#include "text/decoders/onnx/dependence.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "text/decoders/onnx/walk.h"

namespace tenfold::decoders::onnx {
namespace {

// Operands that say extents or places, from the first one on.
bool is_extent(const NetworkNodeInfo& node, int operand) {
  static const std::map<std::string, int> first{{"Reshape", 1}, {"Expand", 1},    {"Tile", 1},    {"Slice", 1}, {"Pad", 1},
                                                {"Split", 1},   {"Unsqueeze", 1}, {"Squeeze", 1}, {"TopK", 1}};
  const auto at = first.find(node.op);
  return at != first.end() && operand >= at->second;
}

constexpr int kNonPadKeys = 6;   // of Attention

}  // namespace

// Whether the results follow from lengths, or from constants.
void Dependence::classify(const NetworkNodeInfo& node) {
  constexpr std::array kRandom{"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"};
  if (std::count(kRandom.begin(), kRandom.end(), node.op)) return;
  const bool asks_extents = node.op == "Shape" || node.op == "Size";
  bool lengths = asks_extents;
  for (const NetworkTensor v : node.inputs) {
    if (!v.defined() || asks_extents) continue;
    if (!of_lengths(v) && !fixed_.count(v.index) && !net_.constant_value(v)) return;
    lengths = lengths || of_lengths(v);
  }
  for (const NetworkTensor v : node.outputs) (lengths ? of_lengths_ : fixed_).insert(v.index);
}

Dependence::Dependence(const Network& net, const Bindings& bindings) : net_(net), bindings_(bindings), nodes_(net.nodes()) {
  for (const Told& one : bindings.told)
    if (one.role != Role::ids && one.role != Role::positions) of_lengths_.insert(one.value.index);
  for (const NetworkNodeRef ref : nodes_) classify(net.node(ref));
}

bool Dependence::is_replaced(const NetworkNodeRef& node, const NetworkNodeInfo& info, int operand) const {
  const auto cache = std::find_if(bindings_.caches.begin(), bindings_.caches.end(), [&](const Cache& c) { return c.node == node; });
  if (cache != bindings_.caches.end()) return cache->form != Form::attention || operand == kNonPadKeys;
  return info.op == "Attention" && operand == kNonPadKeys;
}

std::vector<NetworkTensor> Dependence::rows() const {
  std::vector<NetworkTensor> all;
  for (const NetworkNodeRef ref : nodes_)
    for (const NetworkTensor v : net_.node(ref).outputs) {
      if (!of_lengths(v) || !is_integer(net_.dtype(v)) || rank(net_, v) != 2) continue;
      const std::vector<NetworkDim> dims = net_.dims(v);
      if (dims[0].extent == 1 && dims[1].extent < 0) all.push_back(v);
    }
  return all;
}

std::vector<Border> Dependence::borders() const {
  std::vector<Border> all;
  std::set<std::int32_t> seen;
  for (const NetworkNodeRef ref : nodes_) {
    const NetworkNodeInfo node = net_.node(ref);
    if (std::all_of(node.outputs.begin(), node.outputs.end(), [&](NetworkTensor v) { return of_lengths(v); })) continue;   // within
    for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
      const NetworkTensor v = node.inputs[static_cast<std::size_t>(i)];
      if (!v.defined() || !of_lengths(v) || is_extent(node, i) || is_replaced(ref, node, i) || !seen.insert(v.index).second) continue;
      all.push_back({v, ref, i});
    }
  }
  return all;
}

}  // namespace tenfold::decoders::onnx
