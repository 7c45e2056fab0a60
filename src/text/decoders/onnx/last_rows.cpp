#include "text/decoders/onnx/last_rows.h"

#include <algorithm>
#include <array>

#include "text/decoders/onnx/walk.h"

namespace tenfold::decoders::onnx {
namespace {

// A matrix of weights on the right, or weights that all rows share.
bool fits_every_row(const Network& net, const NetworkNodeInfo& node, NetworkTensor weight) {
  if (!is_weight(net, weight)) return false;
  const std::vector<NetworkDim> dims = net.dims(weight);
  if (node.op == "MatMul") return dims.size() == 2;
  return std::all_of(dims.begin(), dims.end() - (dims.empty() ? 0 : 1), [](const NetworkDim& d) { return d.extent == 1; });
}

// The operand that a node computes row by row, without looking at other rows; -1: it is no such node.
int row_operand(const Network& net, const NetworkNodeInfo& node) {
  constexpr std::array kOne{"Cast", "Identity", "Tanh", "Neg"};
  constexpr std::array kTwo{"Add", "Sub", "Mul", "Div", "Min", "Max"};
  if (std::count(kOne.begin(), kOne.end(), node.op)) return 0;
  if (node.inputs.size() != 2) return -1;
  if (node.op == "MatMul") return fits_every_row(net, node, node.inputs[1]) ? 0 : -1;
  if (!std::count(kTwo.begin(), kTwo.end(), node.op)) return -1;
  return fits_every_row(net, node, node.inputs[1]) ? 0 : fits_every_row(net, node, node.inputs[0]) ? 1 : -1;
}

std::vector<std::int64_t> integers(const Network& net, NetworkTensor value) {
  const auto constant = value.defined() ? net.constant_value(value) : std::nullopt;
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; constant && i < constant->size(); ++i)
    all.push_back(constant->dtype() == DType::i32 ? constant->data<std::int32_t>()[i] : constant->data<std::int64_t>()[i]);
  return all;
}

// Slice from -1 to the end along axis 1, alone.
bool takes_last_row(const Network& net, const NetworkNodeInfo& node) {
  if (node.op != "Slice" || node.inputs.size() < 4) return false;
  const auto operand = [&](std::size_t i) { return i < node.inputs.size() ? integers(net, node.inputs[i]) : std::vector<std::int64_t>{}; };
  const std::vector<std::int64_t> begin = operand(1), end = operand(2), axes = operand(3), steps = operand(4);
  const bool along_tokens = axes == std::vector<std::int64_t>{1} || axes == std::vector<std::int64_t>{-2};
  constexpr std::int64_t kFar = std::int64_t{1} << 30;
  return along_tokens && begin == std::vector<std::int64_t>{-1} && end.size() == 1 && end[0] >= kFar && (steps.empty() || steps[0] == 1);
}

bool is_read_once(const Network& net, NetworkTensor value) { return net.users(value).size() <= 1; }

}  // namespace

bool is_of_last_row(const Network& net, NetworkTensor logits) {
  if (net.dims(logits)[1].extent == 1) return true;
  for (auto node = maker(net, logits); node; node = maker(net, logits)) {
    if (takes_last_row(net, *node)) return true;
    const int next = row_operand(net, *node);
    if (next < 0) return false;
    logits = node->inputs[static_cast<std::size_t>(next)];
  }
  return false;
}

NetworkTensor last_rows(const transformers::Blocks& blocks, NetworkTensor logits, NetworkTensor last, std::int64_t vocabulary) {
  Network& net = blocks.net;
  if (is_of_last_row(net, logits)) return net.cast(net.shuffle(logits, {}, Shape{-1, vocabulary}), DType::f32);   // the file took it
  NetworkTensor at = logits;
  NetworkNodeRef reader;   // of `at`, which is its operand
  int operand = 0;
  for (auto node = maker(net, at); node; node = maker(net, at)) {
    const int next = row_operand(net, *node);
    if (next < 0 || rank(net, node->inputs[static_cast<std::size_t>(next)]) != 3 || !is_read_once(net, at)) break;
    reader = net.producer(at), operand = next, at = node->inputs[static_cast<std::size_t>(next)];
  }
  const std::int64_t width = net.dims(at).back().extent;
  const auto rows = [&](NetworkTensor value, std::int64_t columns) { return net.shuffle(value, {}, Shape{-1, columns}); };
  if (reader.defined() && width > 0)
    net.set_input(reader, operand, net.add_node("Unsqueeze", {net.gather(rows(at, width), last), blocks.integers({1})})[0]);
  else
    logits = net.gather(rows(logits, vocabulary), last);
  return net.cast(rows(logits, vocabulary), DType::f32);
}

}  // namespace tenfold::decoders::onnx
