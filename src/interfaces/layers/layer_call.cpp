#include <algorithm>

#include "layers/layer.h"

namespace tenfold::layers {

NetworkTensor LayerCall::in(int i) const {
  if (!has(i)) refuse("operand " + std::to_string(i) + " is missing");
  return in_[static_cast<std::size_t>(i)];
}

const NetworkAttribute& LayerCall::get(const char* option) const { return options_.at(option); }

Shape LayerCall::known_shape(int i, const char* why) const {
  Shape shape;
  for (const NetworkDim& d : net.dims(in(i))) {
    if (!d.name.empty()) refuse(ErrorKind::unsupported, std::string(why) + " needs extents that are numbers, and one is '" + d.name + "'");
    shape.push_back(d.extent);
  }
  return shape;
}

std::size_t LayerCall::choice(const char* option, std::initializer_list<const char*> words) const {
  const std::string& given = text(option);
  std::string all;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (given == words.begin()[i]) return i;
    all += (i == 0 ? "" : ", ") + std::string(words.begin()[i]);
  }
  refuse(ErrorKind::unsupported, std::string(option) + " is '" + given + "'; there are " + all);
}

Shape LayerCall::axes(const char* option, int rank) const {
  const std::int64_t mask = number(option);
  if (mask < 0 || mask >> rank != 0)
    refuse(std::string(option) + " = " + std::to_string(mask) + " names dimensions beyond the " + std::to_string(rank) + " there are");
  Shape axes;
  for (int d = 0; d < rank; ++d)
    if (mask >> d & 1) axes.push_back(d);
  return axes;
}

std::int64_t LayerCall::axis(const char* option, int rank) const {
  const Shape found = axes(option, rank);
  if (found.size() != 1) refuse(std::string(option) + " has to name one dimension, it names " + std::to_string(found.size()));
  return found[0];
}

Network::Tensors LayerCall::nodes(const std::string& op, const Tensors& in, int results, const NetworkAttributes& attributes,
                                  const std::string& domain) const {
  Tensors made = net.add_node(op, in, attributes, results, name_, domain);
  added_.insert(added_.end(), made.begin(), made.end());
  return made;
}

std::vector<NetworkNodeRef> LayerCall::nodes_made() const {
  std::vector<NetworkNodeRef> made;
  const auto add = [&](NetworkTensor t, const auto& self) -> void {
    const auto is = [&](NetworkTensor other) { return other.index == t.index; };
    const NetworkNodeRef node = net.producer(t);
    if (!node.defined() || std::any_of(in_.begin(), in_.end(), is) || std::find(made.begin(), made.end(), node) != made.end()) return;
    for (const NetworkTensor operand : net.node(node).inputs)  // a helper's own nodes, before its last
      if (operand.defined()) self(operand, self);
    made.push_back(node);
  };
  for (const NetworkTensor t : added_) add(t, add);
  return made;
}

NetworkTensor LayerCall::weights(const char* option, const Shape& shape) const {
  const Tensor& given = tensor(option);
  std::int64_t requested = 1;
  for (const std::int64_t extent : shape) requested *= extent;
  if (!given.defined() && requested == 0) return net.constant(Tensor(DType::f32, shape));
  if (!given.defined() || given.size() != requested)
    refuse(std::string(option) + " has " + std::to_string(given.defined() ? given.size() : 0) + " elements, " + std::to_string(requested) +
           " are needed");
  const auto owner = std::make_shared<const Tensor>(given);
  const std::string name = name_ + "." + option;
  // The layer's earlier ones stay in the network, unused: they leave the name to the new.
  if (const NetworkTensor before = again_ ? net.find(name) : NetworkTensor{}; before.defined() && net.users(before).empty())
    net.rename(before, name + " (unused " + std::to_string(before.index) + ")");
  const NetworkTensor made = net.constant(Tensor(given.dtype(), shape, owner, given.raw()), name);
  net.rename(made, name);
  return made;
}

NetworkTensor LayerCall::integers(const Shape& values) const {
  Tensor t(DType::i64, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.mutable_data<std::int64_t>());
  return net.constant(std::move(t));
}

NetworkTensor LayerCall::integer(std::int64_t value) const {
  Tensor t(DType::i64, {});
  *t.mutable_data<std::int64_t>() = value;
  return net.constant(std::move(t));
}

NetworkTensor LayerCall::places(NetworkTensor x, std::int64_t dim) const {
  const auto rank = static_cast<std::int64_t>(net.dims(x).size());
  const NetworkTensor extent = node("Gather", {keep(net.shape(x)), integer(dim < 0 ? dim + rank : dim)});
  return node("Range", {integer(0), extent, integer(1)});
}

NetworkTensor LayerCall::as_indices(NetworkTensor x, const char* option) const {
  const DType type = choice(option, {"INT32", "INT64"}) == 0 ? DType::i32 : DType::i64;
  return net.dtype(x) == type ? x : cast(x, type);
}

NetworkTensor LayerCall::scalar(DType dtype, float value) const {
  Tensor t(DType::f32, {});
  *t.mutable_data<float>() = value;
  const NetworkTensor made = net.constant(std::move(t));
  return dtype == DType::f32 ? made : cast(made, dtype);
}

DType dtype_of(const LayerCall& call, const std::string& name) {
  static const std::pair<const char*, DType> kTypes[] = {
      {"FLOAT", DType::f32}, {"HALF", DType::f16},  {"INT8", DType::i8},      {"INT32", DType::i32}, {"BOOL", DType::boolean},
      {"UINT8", DType::u8},  {"BF16", DType::bf16}, {"FP8", DType::f8e4m3fn}, {"INT64", DType::i64}, {"INT4", DType::i4},
      {"FP4", DType::f4e2m1}, {"E8M0", DType::f8e8m0}};
  for (const auto& [known, type] : kTypes)
    if (name == known) return type;
  call.refuse(ErrorKind::unsupported, "there is no element type '" + name + "'");
}

}  // namespace tenfold::layers
