#include "text/decoders/onnx/walk.h"

#include <algorithm>
#include <set>

namespace tenfold::decoders::onnx {

std::optional<NetworkNodeInfo> maker(const Network& net, NetworkTensor value) {
  const NetworkNodeRef node = net.producer(value);
  return node.defined() ? std::optional(net.node(node)) : std::nullopt;
}

namespace {

// Whether all that `value` is made of, itself first, is what `accepts` says; constants have no makers.
template <class Accepts>
bool all_behind(const Network& net, NetworkTensor value, const Accepts& accepts) {
  std::vector<NetworkTensor> open{value};
  std::set<std::int32_t> seen;
  while (!open.empty()) {
    const NetworkTensor v = open.back();
    open.pop_back();
    if (!v.defined() || !seen.insert(v.index).second) continue;
    if (!accepts(v)) return false;
    if (const auto node = maker(net, v)) open.insert(open.end(), node->inputs.begin(), node->inputs.end());
  }
  return true;
}

}  // namespace

bool follows(const Network& net, NetworkTensor value, NetworkTensor from) {
  return !all_behind(net, value, [&](NetworkTensor v) { return !same(v, from); });
}

bool is_weight(const Network& net, NetworkTensor value) {
  return all_behind(net, value, [&](NetworkTensor v) { return net.constant_value(v) || net.producer(v).defined(); });
}

std::int64_t integer(const NetworkNodeInfo& node, const std::string& attribute, std::int64_t otherwise) {
  const auto at = node.attributes.find(attribute);
  const auto* value = at == node.attributes.end() ? nullptr : std::get_if<std::int64_t>(&at->second);
  return value ? *value : otherwise;
}

int rank(const Network& net, NetworkTensor value) {
  try {
    return static_cast<int>(net.dims(value).size());
  } catch (const Error&) {   // a tensor of unknown rank
    return -1;
  }
}

std::int64_t axis_of(const Network& net, const NetworkNodeInfo& node, NetworkTensor value, std::int64_t otherwise) {
  const std::int64_t axis = integer(node, "axis", otherwise), all = rank(net, value);
  return all < 0 ? -1 : axis < 0 ? axis + all : axis;
}

std::string shown(const NetworkNodeInfo& node) { return "node '" + node.name + "' (" + node.op + ")"; }

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) text += (i ? ", " : "") + names[i];
  return names.size() > kShown ? text + " and " + std::to_string(names.size() - kShown) + " more" : text;
}

}  // namespace tenfold::decoders::onnx
