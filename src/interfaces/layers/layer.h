// What a kind of layer is, and what it sees when it becomes nodes. It uses nothing but tenfold/network.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tenfold/error.h"
#include "tenfold/layers.h"

namespace tenfold::layers {

class LayerCall {
 public:
  using Tensors = Network::Tensors;
  LayerCall(Network& net, const std::string& name, const Tensors& in, const NetworkAttributes& options, bool again)
      : net(net), name_(name), in_(in), options_(options), again_(again) {}
  Network& net;                                // what is added by its helpers goes through keep()

  bool has(int i) const { return static_cast<std::size_t>(i) < in_.size() && in_[static_cast<std::size_t>(i)].defined(); }
  NetworkTensor in(int i) const;  // refuses the layer where it is missing
  NetworkTensor maybe(int i) const { return has(i) ? in(i) : NetworkTensor{}; }
  const Tensors& all() const { return in_; }
  int rank(int i) const { return static_cast<int>(net.dims(in(i)).size()); }
  DType dtype(int i) const { return net.dtype(in(i)); }
  Shape known_shape(int i, const char* why) const;  // refuses extents that only a profile decides

  bool knows(const char* option) const { return options_.count(option) > 0; }   // whether layers of this kind have it
  std::int64_t number(const char* option) const { return std::get<std::int64_t>(get(option)); }
  bool flag(const char* option) const { return number(option) != 0; }
  float real(const char* option) const { return std::get<float>(get(option)); }
  const std::string& text(const char* option) const { return std::get<std::string>(get(option)); }
  const Shape& list(const char* option) const { return std::get<std::vector<std::int64_t>>(get(option)); }
  const std::vector<float>& reals(const char* option) const { return std::get<std::vector<float>>(get(option)); }
  const Tensor& tensor(const char* option) const { return std::get<Tensor>(get(option)); }
  bool has_tensor(const char* option) const { return tensor(option).defined() && tensor(option).size() > 0; }
  // One of the words, by its place; refuses others.
  std::size_t choice(const char* option, std::initializer_list<const char*> words) const;
  // The one axis, or all of them, that a mask of bits names.
  std::int64_t axis(const char* option, int rank) const;
  Shape axes(const char* option, int rank) const;

  NetworkTensor node(const std::string& op, const Tensors& in, const NetworkAttributes& attributes = {}) const {
    return nodes(op, in, 1, attributes)[0];
  }
  NetworkTensor cast(NetworkTensor x, DType type) const { return keep(net.cast(x, type)); }
  NetworkTensor keep(NetworkTensor x) const { return added_.push_back(x), x; }
  // All that were added so far, each behind those that it reads.
  std::vector<NetworkNodeRef> nodes_made() const;
  Tensors nodes(const std::string& op, const Tensors& in, int results, const NetworkAttributes& attributes = {},
                const std::string& domain = "") const;
  NetworkTensor weights(const char* option, const Shape& shape) const;  // a constant of the layer's, which can be refitted
  NetworkTensor integers(const Shape& values) const;
  NetworkTensor integer(std::int64_t value) const;
  NetworkTensor scalar(DType dtype, float value) const;
  // 0, 1 ... along a dim (from the end below 0), in i64.
  NetworkTensor places(NetworkTensor x, std::int64_t dim) const;
  // The option's type of indices: INT32 or INT64.
  NetworkTensor as_indices(NetworkTensor x, const char* option) const;
  NetworkTensor as_i64(NetworkTensor x) const { return net.dtype(x) == DType::i64 ? x : cast(x, DType::i64); }
  [[noreturn]] void refuse(ErrorKind kind, const std::string& words) const { throw Error(kind, words); }  // Layers names the layer
  [[noreturn]] void refuse(const std::string& words) const { refuse(ErrorKind::invalid_argument, words); }

 private:
  const NetworkAttribute& get(const char* option) const;
  const std::string& name_;
  const Tensors& in_;
  const NetworkAttributes& options_;
  const bool again_;
  mutable Tensors added_;
};

// What a layer is to the loop or branch that its option "region" names: where values come in (recurrences, iterators, inputs of branches),
// what decides how often or whether it runs, and where results come out. regions.cpp makes bodies of what lies between.
enum class RegionPart : std::uint8_t { none, entry, control, output };

// One file of kinds/ each; its name is the file's.
struct LayerKind {
  std::string name;
  int min_inputs = 1, max_inputs = 1;  // -1: any number
  NetworkAttributes options = {};      // names, types and defaults
  Network::Tensors (*make)(const LayerCall&) = nullptr;  // null: an output of a region
  RegionPart part = RegionPart::none;
};
// With the option "region", of the same number for all layers of one loop or branch.
LayerKind region_kind(const char* name, RegionPart part, int inputs, const NetworkAttributes& options);

std::vector<LayerKind> all_kinds();  // written by cmake/registry.cmake

DType dtype_of(const LayerCall& call, const std::string& name);  // "FLOAT", "HALF", ...
// Attributes of a window over the spatial dims of a tensor: strides, dilations, pads.
NetworkAttributes window_of(const LayerCall& call, const Shape& window, NetworkTensor over);
inline bool rounds_up(const LayerCall& call) {
  return call.text("padding_mode") == "EXPLICIT_ROUND_UP" || call.text("padding_mode") == "CAFFE_ROUND_UP";
}
// Attributes of ONNX's operators that quantize: axis, and block_size if there are blocks. Operand 1 is the scale.
NetworkAttributes scaled_along(const LayerCall& call);
LayerKind convolution_kind(const char* name, bool transposed);
LayerKind plugin_kind(const char* name);

}  // namespace tenfold::layers
