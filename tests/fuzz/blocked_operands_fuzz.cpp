// libFuzzer target: models of one node with operands in blocks, whose attributes, shapes and bytes the input gives: DequantizeLinear with
// block_size, and MatMulNBits. Each ends in a graph that verifies and runs, or in an Error that is the model's fault.
#include <deque>
#include <span>
#include <string>

#include "base/check.h"
#include "cpu_limit.h"
#include "onnx_import/import.h"
#include "onnx_import/write_messages_for_tests.h"
#include "ops/interpret.h"
#include "ops/onnx_dtype.h"

using namespace tenfold;
using namespace tenfold::onnx_import;

namespace {

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  std::uint8_t byte() { return at_ < size_ ? data_[at_++] : std::uint8_t{0}; }
  // Mostly small; sometimes anything.
  std::int64_t number() {
    const std::uint8_t kind = byte();
    if (kind < 240) return kind % 40;
    std::int64_t value = 0;
    for (int i = 0; i < 8; ++i) value = (value << 8 | byte());
    return value;
  }
  std::string text(std::size_t length) {
    std::string s(length, '\0');
    for (char& c : s) c = static_cast<char>(byte());
    return s;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_, at_ = 0;
};

constexpr std::int64_t kTypes[] = {1, 2, 3, 10, 11, 16, 17, 21, 22, 23};   // ONNX's numbers: floats, bytes, e4m3, u4, i4, f4

// A small tensor of its type's own size more often than not. Its bytes lie in `kept`.
onnx::TensorProto operand(Input& in, const std::string& name, std::deque<std::string>& kept) {
  onnx::TensorProto t;
  t.name = name, t.data_type = kTypes[in.byte() % std::size(kTypes)];
  for (int d = in.byte() % 4; d > 0; --d) t.dims.push_back(in.number());
  std::size_t bytes = in.byte();
  if (bytes < 200) try {
      bytes =
          static_cast<std::size_t>(std::min<std::int64_t>(byte_size(ops::dtype_from_onnx(t.data_type), element_count(t.dims)), 1 << 12));
    } catch (const Error&) {
    }
  t.raw_data = std::as_bytes(std::span(kept.emplace_back(in.text(bytes))));
  return t;
}

void attribute(onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  onnx::AttributeProto& a = node.attribute.emplace_back();
  a.name = name, a.type = 2, a.i = value;
}

onnx::ModelProto model_of(Input& in, std::deque<std::string>& kept) {
  onnx::ModelProto model;
  model.ir_version = 10;
  model.opset_import.push_back({"", 21}), model.opset_import.push_back({"com.microsoft", 1});
  onnx::GraphProto& graph = model.graph.edit();
  graph.name = "g";
  const bool product = in.byte() % 2 != 0;
  onnx::NodeProto node;
  node.op_type = product ? "MatMulNBits" : "DequantizeLinear", node.domain = product ? "com.microsoft" : "", node.output = {"y"};
  for (const char* name : {"K", "N", "bits", "block_size"})
    if (product || name == std::string("block_size")) attribute(node, name, in.number());
  if (!product) attribute(node, "axis", static_cast<std::int8_t>(in.byte()));
  for (int operands = product ? 3 + in.byte() % 4 : 2 + in.byte() % 2, i = 0; i < operands; ++i) {
    graph.initializer.push_back(operand(in, std::string(1, static_cast<char>('a' + i)), kept));
    node.input.push_back(graph.initializer.back().name);
  }
  graph.node.push_back(std::move(node));
  graph.output.emplace_back().name = "y";
  return model;
}

constexpr std::int64_t kMaxElements = 1 << 14;

bool is_small(const ir::Graph& graph) {
  for (const auto& v : graph.values()) {
    if (!v->type.is_tensor() || !ir::is_constant(v->dims())) return false;
    if (element_count(ir::constants(v->dims())) > kMaxElements) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::CpuLimit limit;
  Input in(data, size);
  std::deque<std::string> kept;
  const std::string bytes = serialized(model_of(in, kept));
  try {
    const ir::Graph graph = import_bytes(std::as_bytes(std::span(bytes)), {});
    ir::verify(graph);
    if (is_small(graph)) ops::run_graph(graph, {});
  } catch (const Error& error) {
    check(error.kind() == ErrorKind::invalid_model || error.kind() == ErrorKind::unsupported || error.kind() == ErrorKind::out_of_memory,
          "a model is refused as something else: ", error.what());
  }
  return 0;
}
