// Layers with TensorRT's names, options and meanings, on a Network, for programs that are written layer by layer. Each
// layer becomes a few ONNX nodes. Options and operands may change later. What follows from a change is made anew when a
// shape is asked for, or by finalize().
//
//   auto net = std::make_shared<Network>();
//   Layers layers(net);
//   int conv = layers.add("convolution", {{.tensor = x}},
//                         {{"num_output_maps", 8}, {"kernel_size_nd", Shape{3, 3}}, {"kernel", w}}, "conv1");
//   layers.set(conv, "stride_nd", Shape{2, 2});
//   layers.mark_output({.layer = conv}, "y");
//   layers.finalize();
//   Engine engine = build(*net, config);
//
// Options have the names that they have in TensorRT's Python module. Values of enumerations are the names of their
// members ("SAME_UPPER"). kinds() lists the kinds of layers, and options_of() their options. All functions throw
// Error(invalid_argument | invalid_model | unsupported), which names the layer. One thread uses a Layers object at a
// time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tenfold/network.h"

namespace tenfold {

// Where an operand comes from: result `result` of layer `layer`, or, if that is -1, a tensor of the network that no
// layer made.
struct LayerOperand {
  std::int32_t layer = -1, result = 0;
  NetworkTensor tensor;
  bool given() const { return layer >= 0 || tensor.defined(); }
};

class TENFOLD_API Layers {
 public:
  explicit Layers(std::shared_ptr<Network> network);
  ~Layers();
  Layers(Layers&&) noexcept;
  Layers& operator=(Layers&&) noexcept;

  static std::vector<std::string> kinds();
  static NetworkAttributes options_of(const std::string& kind);   // with their defaults

  // Adds a layer and returns its number. An empty name becomes one made of the kind and the number.
  std::int32_t add(const std::string& kind, std::vector<LayerOperand> operands, const NetworkAttributes& options = {},
                   std::string name = "");
  std::int32_t count() const;
  const std::string& kind(std::int32_t layer) const;
  const std::string& name(std::int32_t layer) const;
  void rename(std::int32_t layer, const std::string& name);
  const std::vector<LayerOperand>& operands(std::int32_t layer) const;
  void set_operand(std::int32_t layer, int index, LayerOperand operand);
  NetworkAttribute option(std::int32_t layer, const std::string& name) const;
  // `value` has the option's type. A whole number serves for a float, too.
  void set(std::int32_t layer, const std::string& option, NetworkAttribute value);

  int results(std::int32_t layer);
  // A result as a tensor of the network, made if need be. The next change of a layer may make the tensor invalid.
  NetworkTensor result(std::int32_t layer, int index);
  void rename_result(std::int32_t layer, int index, const std::string& name);
  // Outputs keep their order when layers are made anew.
  void mark_output(LayerOperand value, const std::string& name);
  void unmark_output(const std::string& name);
  bool is_output(std::int32_t layer, int index) const;
  // Makes anew the layers that changed and all layers that follow from them. Call it before a build. Throws where
  // something does not fit; the network must then not be built.
  void finalize();

 private:
  struct TENFOLD_NOT_EXPORTED Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold
