#include "text/decoders/onnx/attention.h"

#include <algorithm>

#include "text/decoders/onnx/walk.h"
#include "text/fail.h"

namespace tenfold::decoders::onnx {

namespace { enum Operand : std::uint8_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kValidKeys }; }

NetworkTensor Attentions::mask(std::int64_t window, DType type, bool visible) {
  NetworkTensor& known = masks_[{window, type, visible}];
  if (known.defined()) return known;
  if (type != DType::boolean) return known = type == DType::f32 ? cached_.mask(window) : net_.cast(cached_.mask(window), type);
  return known = visible ? net_.unary(Unary::logical_not, cached_.hidden(window)) : cached_.hidden(window);
}

NetworkTensor Attentions::apart(NetworkTensor rows, std::int64_t heads, std::int64_t size) const {
  return rank(net_, rows) == 4 ? rows : blocks_.by_head(rows, heads, size);
}

void Attentions::reads(NetworkNodeRef node, bool keys, NetworkTensor all) {
  Read& read = reads_[node.index];
  read.node = node;
  (keys ? read.keys : read.values) = all;
}

// The node's own mask, and that of is_causal: a token sees what is in front of it, which is no padding.
NetworkTensor Attentions::mask_of(const NetworkNodeInfo& node) {
  NetworkTensor own = node.inputs.size() > kMask ? node.inputs[kMask] : NetworkTensor{};
  const bool is_ours = std::any_of(masks_.begin(), masks_.end(), [&](const auto& one) { return same(one.second, own); });
  const bool pads = node.inputs.size() > kValidKeys && node.inputs[kValidKeys].defined();
  if (pads && integer(node, "is_causal", 0) == 0 && !is_ours)
    tokenizing::fail(ErrorKind::unsupported, shown(node) + " hides padding alone (nonpad_kv_seqlen); is_causal or a mask was expected");
  if (integer(node, "is_causal", 0) == 0 || is_ours) return own;
  const DType type = own.defined() ? net_.dtype(own) : net_.dtype(node.inputs[kQuery]);
  const NetworkTensor causal = mask(0, type, true);
  if (!own.defined()) return causal;
  return net_.elementwise(type == DType::boolean ? Elementwise::logical_and : Elementwise::sum, own, causal);
}

void Attentions::replace(const Read& read) {
  const NetworkNodeInfo node = net_.node(read.node);
  if (!read.keys.defined() || !read.values.defined())
    tokenizing::fail(ErrorKind::invalid_model, shown(node) + " continues a past key or a past value, not both");
  if (node.outputs.size() > 3 && !net_.users(node.outputs[3]).empty())
    tokenizing::fail(ErrorKind::unsupported, shown(node) + " gives its scores, which a decoder over a cache in place does not have");
  const bool packed = rank(net_, node.inputs[kQuery]) == 3;
  NetworkTensor q = node.inputs[kQuery];
  const std::int64_t size = net_.dims(read.keys)[3].extent;
  if (packed) q = blocks_.by_head(q, integer(node, "q_num_heads", 0), size);
  NetworkAttributes attributes;
  for (const char* name : {"scale", "softcap"})
    if (const auto at = node.attributes.find(name); at != node.attributes.end()) attributes[name] = at->second;
  const DType type = net_.dtype(read.keys), own = net_.dtype(q);
  NetworkTensor mask = mask_of(node);
  if (mask.defined() && net_.dtype(mask) != DType::boolean && net_.dtype(mask) != type) mask = net_.cast(mask, type);
  NetworkTensor y = net_.add_node("Attention", {own == type ? q : net_.cast(q, type), read.keys, read.values, mask}, attributes)[0];
  if (own != type) y = net_.cast(y, own);
  if (packed) y = net_.shuffle(y, {0, 2, 1, 3}, Shape{0, 0, -1});
  net_.replace(node.outputs[0], y);
}

// Those whose keys and values are in the cache already.
void Attentions::find_readers() {
  for (const NetworkNodeRef ref : net_.nodes()) {
    const NetworkNodeInfo node = net_.node(ref);
    if (reads_.count(ref.index) || (node.op != "Attention" && node.op != "FusedAttention")) continue;
    const auto keys = caches_.find(node.inputs[kKey].index), values = caches_.find(node.inputs[kValue].index);
    if (keys == caches_.end() || values == caches_.end()) continue;
    const bool is_fast = node.op == "FusedAttention" && same(keys->second, node.inputs[kKey]);
    if (!is_fast && integer(node, "causal", 0) == 0) reads_[ref.index] = {ref, keys->second, values->second};
  }
}

void Attentions::replace_nodes() {
  find_readers();
  for (const auto& [index, read] : reads_) replace(read);
}

}  // namespace tenfold::decoders::onnx
