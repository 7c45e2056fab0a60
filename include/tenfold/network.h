// Network: a model built in code, layer by layer. It is the same graph that an ONNX file gives. Its helpers are named
// after TensorRT's layers; tenfold/layers.h has those layers with all options, which may change later.
//
//   Network net;
//   auto x = net.input("x", DType::f32, {"batch", 3, 224, 224});
//   auto y = net.convolution(x, net.constant(w, "conv.w"), net.constant(b, "conv.b"), {.padding = {1, 1}});
//   y = net.activation(Activation::relu, y);
//   net.mark_output(y, "y");
//   Engine engine = build(net, config);                       // tenfold/build.h
//
// Every helper appends ONNX nodes (newest opset) and infers their types. If something does not fit, it throws
// Error(invalid_argument | invalid_model | unsupported), which names the layer; the network is then as it was before,
// except for unused constants. Shapes are row major, and N,C,spatial for images. Weights are shared, not copied: do not
// change their bytes until build() has returned. One thread uses a Network at a time. Once it is finished, it may be
// built several times, also from several threads.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tenfold/export.h"
#include "tenfold/tensor.h"

namespace tenfold {

class Engine;
class Plugins;   // tenfold/plugin.h
struct BuildConfig;
struct BuildReport;

// A value of one Network. A default NetworkTensor stands for an optional operand that is left out.
struct NetworkTensor {
  std::int32_t index = -1;
  std::uint32_t network = 0;   // the Network that it belongs to; any other refuses it
  bool defined() const { return index >= 0; }
};

// A node of one Network. A default NetworkNodeRef is no node.
struct NetworkNodeRef {
  std::int32_t index = -1;
  std::uint32_t network = 0;
  bool defined() const { return index >= 0; }
  bool operator==(const NetworkNodeRef&) const = default;
};

// One extent: a number, or a name for an extent that the profile decides. Equal names mean equal extents.
struct NetworkDim {
  NetworkDim(int extent) : extent(extent) {}                        // NOLINT: {"batch", 3, 224}
  NetworkDim(std::int64_t extent) : extent(extent) {}               // NOLINT
  NetworkDim(const char* name) : name(name) {}                      // NOLINT
  NetworkDim(std::string name) : name(std::move(name)) {}           // NOLINT
  std::int64_t extent = -1;
  std::string name;            // empty: `extent` counts. In the type of a result also an expression: "2*batch + 1"
};

// Attributes of add_node(), as ONNX has them: {{"axis", 1}, {"mode", "linear"}}. Element types are numbers of
// TensorProto.DataType.
using NetworkAttribute =
    std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>, std::vector<std::string>, Tensor>;
using NetworkAttributes = std::map<std::string, NetworkAttribute>;

enum class Elementwise : std::uint8_t {
  sum, sub, prod, div, pow, min, max, mod,                        // operands of one type
  equal, less, less_or_equal, greater, greater_or_equal,          // boolean results
  logical_and, logical_or, logical_xor,                           // boolean operands and results
};
enum class Unary : std::uint8_t {
  exp, log, sqrt, reciprocal, abs, neg, sin, cos, tan, sinh, cosh, asin, acos, atan, asinh, acosh, atanh,
  ceil, floor, round, erf, sign, is_inf, is_nan, logical_not,
};
// These take alpha (a) and beta (b): leaky_relu(a) elu(a) selu(a,b) clip(a..b) hard_sigmoid(a,b) thresholded_relu(a)
// swish(a). If one is left out, it has ONNX's value.
enum class Activation : std::uint8_t {
  relu, sigmoid, tanh, leaky_relu, elu, selu, softsign, softplus, clip, hard_sigmoid, thresholded_relu, gelu_erf, gelu_tanh,
  hard_swish, swish,
};
enum class Reduce : std::uint8_t { sum, prod, max, min, mean, l1, l2 };
enum class Pooling : std::uint8_t { max, average };

// Empty lists mean strides and dilations of 1 and padding of 0. `padding` holds one number per spatial dim, or all
// begins and then all ends.
struct ConvolutionOptions {
  Shape strides = {}, padding = {}, dilations = {}, output_padding = {};   // output_padding is for deconvolution only
  std::int64_t groups = 1;
};
struct PoolingOptions {
  Shape strides = {}, padding = {}, dilations = {};
  bool ceil_mode = false, count_padding = false;                           // count_padding is for averages only
};
struct ResizeOptions {                                                     // names are those of ONNX's Resize
  std::string mode = "nearest", coordinates = "half_pixel", nearest = "round_prefer_floor";
  float cubic_coefficient = -0.75f;
};
struct NormalizationOptions {
  std::int64_t axis = -1;       // layer norm normalizes the dims from here to the last
  std::int64_t groups = 0;      // above 0: group norm over x[N,C,...] instead; C groups are instance norm
  float epsilon = 1e-5f;
};

// A node, with the operator's name and attributes as in ONNX's newest opset. An ONNX operator that Tenfold expresses by
// others appears as these. Operands that are left out are undefined tensors.
struct NetworkNodeInfo {
  std::string name, op, domain;        // domain "": ai.onnx
  std::vector<NetworkTensor> inputs, outputs;
  NetworkAttributes attributes;
  int bodies = 0;                      // how many bodies If (then, else), Loop or Scan has: see Network::body()
};

class TENFOLD_API Network {
 public:
  using Tensors = std::vector<NetworkTensor>;
  // The body of a branch or loop. It gets a network of its own with its inputs, and returns its results. It may use any
  // value of the networks around it; values given as `captures` are among its inputs, too. It may be called more than
  // once (with wider types), and must do the same each time. Until it returns, the networks around it may get new
  // nodes, but must not be edited. Its values are not valid outside of it.
  using Body = std::function<Tensors(Network& body, const Tensors& inputs)>;

  // With plug-ins, add_node() takes their operators, too. The network keeps the plug-ins alive.
  explicit Network(std::string name = "network", std::shared_ptr<const Plugins> plugins = nullptr);
  // The graph of an ONNX model, to be walked, edited and built. These fields of the configuration count: profiles
  // (extents that all of them fix), plug-ins, folders of external data, and the log. Throws as build_file() does.
  static Network read(const std::string& onnx_path, const BuildConfig& config);
  static Network read(std::span<const std::byte> onnx, const BuildConfig& config);
  ~Network();
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;

  NetworkTensor input(const std::string& name, DType dtype, const std::vector<NetworkDim>& dims);
  NetworkTensor constant(Tensor value, const std::string& name = "");      // a constant with a name is a weight
  // x[N,C,d1..dk] with k from 1 to 3, kernel[M,C/groups,...], and bias[M], which may be left out.
  NetworkTensor convolution(NetworkTensor x, NetworkTensor kernel, NetworkTensor bias = {}, const ConvolutionOptions& options = {});
  // The transpose of a convolution, with kernel[C,M/groups,...].
  NetworkTensor deconvolution(NetworkTensor x, NetworkTensor kernel, NetworkTensor bias = {}, const ConvolutionOptions& options = {});
  NetworkTensor pooling(Pooling kind, NetworkTensor x, const Shape& window, const PoolingOptions& options = {});
  // The matrix product, as numpy's matmul. A transposed operand has its last two dims swapped first.
  NetworkTensor matrix_multiply(NetworkTensor a, NetworkTensor b, bool transpose_a = false, bool transpose_b = false);
  NetworkTensor elementwise(Elementwise op, NetworkTensor a, NetworkTensor b);   // operands broadcast as in numpy
  NetworkTensor unary(Unary op, NetworkTensor x);
  NetworkTensor activation(Activation kind, NetworkTensor x, std::optional<float> alpha = {}, std::optional<float> beta = {});
  NetworkTensor softmax(NetworkTensor x, std::int64_t axis = -1);
  NetworkTensor reduce(Reduce op, NetworkTensor x, const Shape& axes, bool keep_dims = true);   // no axes: all axes
  struct TopK { NetworkTensor values, indices; };                                               // indices i64
  TopK top_k(NetworkTensor x, std::int64_t k, std::int64_t axis = -1, bool largest = true);     // sorted, best first
  NetworkTensor gather(NetworkTensor data, NetworkTensor indices, std::int64_t axis = 0);       // indices i32 or i64
  // Transposes, reshapes and transposes again. An empty list leaves that step out. In `dims`, 0 copies the extent and
  // -1 takes the rest.
  NetworkTensor shuffle(NetworkTensor x, const Shape& first_permutation, const std::optional<Shape>& dims = {},
                        const Shape& second_permutation = {});
  // Each list has one entry per dim of x. `start` counts from the front. A size of -1 reaches to the end. An empty
  // stride is 1 everywhere.
  NetworkTensor slice(NetworkTensor x, const Shape& start, const Shape& size, const Shape& stride = {});
  NetworkTensor concatenation(const Tensors& parts, std::int64_t axis);
  NetworkTensor resize(NetworkTensor x, const Shape& sizes, const ResizeOptions& options = {});   // one per dim of x
  NetworkTensor resize_by(NetworkTensor x, const std::vector<float>& scales, const ResizeOptions& options = {});
  NetworkTensor normalization(NetworkTensor x, NetworkTensor scale, NetworkTensor bias, const NormalizationOptions& options = {});
  NetworkTensor select(NetworkTensor condition, NetworkTensor yes, NetworkTensor no);
  NetworkTensor shape(NetworkTensor x);   // i64[rank]
  NetworkTensor cast(NetworkTensor x, DType to);
  // The scale is f32[], or f32[C] along `axis`. The zero point has the 8-bit type; if it is left out, the type is u8
  // and it is zero.
  NetworkTensor quantize(NetworkTensor x, NetworkTensor scale, NetworkTensor zero_point = {}, std::int64_t axis = 1);
  NetworkTensor dequantize(NetworkTensor x, NetworkTensor scale, NetworkTensor zero_point = {}, std::int64_t axis = 1);
  // Bodies get `captures` as inputs and return equally many results of equal types.
  Tensors if_conditional(NetworkTensor condition, const Tensors& captures, const Body& then_body, const Body& else_body);
  // The body's inputs are: iteration i64[], condition bool[], carried values, captures. It returns: condition, carried
  // values, then one piece of each scan. The results are the carried values after the last round, then the scans
  // stacked along a new first dim. trips i64[] or condition bool[] may be left out, but not both.
  Tensors loop(NetworkTensor trips, NetworkTensor condition, const Tensors& carried, const Tensors& captures, const Body& body);
  // The body's inputs are: states, a slice of each sequence, captures. It returns: states, then a slice of each result
  // that is stacked. The results are the last states, then the stacked results. Attributes are those of ONNX's Scan:
  // scan_input_axes and scan_output_axes (0 if left out), scan_input_directions and scan_output_directions (1: from the
  // back).
  Tensors scan(const Tensors& states, const Tensors& sequences, const Tensors& captures, const Body& body,
               const NetworkAttributes& attributes = {});
  // Any operator without a body, at the newest opset of its domain.
  Tensors add_node(const std::string& op, const Tensors& inputs, const NetworkAttributes& attributes = {}, int outputs = 1,
                   const std::string& name = "", const std::string& domain = "");
  void mark_output(NetworkTensor value, const std::string& name);

  DType dtype(NetworkTensor value) const;
  std::vector<NetworkDim> dims(NetworkTensor value) const;
  std::string describe(NetworkTensor value) const;                         // "f32[batch,3,224,224]"
  std::string text() const;                                                // the whole graph, for people to read

  // Walking. Nodes come in an order in which each comes after those whose results it reads.
  std::vector<NetworkNodeRef> nodes() const;
  NetworkNodeInfo node(NetworkNodeRef node) const;                         // throws invalid_argument if it was removed
  // A copy of body `index` of a node, to be walked. Its inputs are the operator's own, then what the body captures, in
  // the order of the node's last inputs. The copy can be neither changed nor built (invalid_argument).
  Network body(NetworkNodeRef node, int index) const;
  Tensors inputs() const;
  Tensors outputs() const;
  std::string name(NetworkTensor value) const;
  NetworkTensor find(std::string_view name) const;                         // undefined: no value has the name
  NetworkNodeRef producer(NetworkTensor value) const;                      // undefined: it is an input or a constant
  std::vector<NetworkNodeRef> users(NetworkTensor value) const;            // each node once
  std::optional<Tensor> constant_value(NetworkTensor value) const;         // nothing: it is no constant

  // Editing. Types that follow from a change are inferred at once. A change that does not fit throws and leaves the
  // network as it was.
  //
  // rename() renames a weight for refits, too. It throws invalid_argument if another value has the name.
  void rename(NetworkTensor value, const std::string& name);
  void rename(NetworkNodeRef node, const std::string& name);
  void set_attribute(NetworkNodeRef node, const std::string& name, NetworkAttribute value);
  void remove_attribute(NetworkNodeRef node, const std::string& name);
  void set_input(NetworkNodeRef node, int index, NetworkTensor value);
  void set_constant(NetworkTensor constant, Tensor value);
  void replace(NetworkTensor value, NetworkTensor by);                     // in all readers; an output keeps its name
  void remove(NetworkNodeRef node);                                        // its results must be unused
  void remove_output(const std::string& name);
  void remove_input(const std::string& name);                              // it must be unused
  int remove_unused();                                                     // removes unused nodes; returns how many

 private:
  struct TENFOLD_NOT_EXPORTED Impl;
  friend class NetworkNode;
  friend Engine build(const Network& network, const BuildConfig& config, BuildReport* report);
  explicit Network(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenfold
