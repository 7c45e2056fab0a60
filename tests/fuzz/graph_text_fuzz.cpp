// libFuzzer target: graphs in text form, as a plan's portable section and its recipes for refits hold them. Any text ends in a verified
// graph that prints and reads back alike, or in an Error; a small one runs on the reference kernels, in its own memory.
#include <string_view>

#include "base/check.h"
#include "cpu_limit.h"
#include "ir/text.h"
#include "ops/interpret.h"

using namespace tenfold;

namespace {

constexpr std::int64_t kMaxElements = 1 << 12;

// How long a graph may run is its maker's affair.
bool is_small(const ir::Graph& graph) {
  const ir::SymbolBounds box = graph.box();
  for (const auto& n : graph.nodes())
    if (!n->graphs.empty()) return false;
  for (const auto& v : graph.values()) {
    if (v->type.kind != ir::ValueType::Kind::tensor || !v->type.ranked || v->dtype() == DType::string) return false;
    std::int64_t elements = 1;
    for (const ir::Dim& d : v->dims()) {
      const std::int64_t extent = d.bounds(box).upper;
      if (extent > kMaxElements || (elements *= std::max<std::int64_t>(extent, 1)) > kMaxElements) return false;
    }
  }
  return graph.nodes().size() < 32;
}

void run(const ir::Graph& graph) {
  std::vector<ops::RuntimeValue> inputs;
  for (const ir::Value* v : graph.inputs) {
    if (!ir::is_constant(v->dims())) return;
    Tensor t(v->dtype(), ir::constants(v->dims()));
    auto* bytes = static_cast<std::uint8_t*>(t.mutable_raw());
    for (std::int64_t i = 0; i < t.bytes(); ++i) bytes[i] = v->dtype() == DType::boolean ? i % 2 : static_cast<std::uint8_t>(i * 37);
    inputs.emplace_back(std::move(t));
  }
  ops::run_graph(graph, inputs);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::CpuLimit limit;
  try {
    const ir::Graph graph = ir::parse_graph({reinterpret_cast<const char*>(data), size}, ir::Registry::builtin());
    ir::verify(graph);
    ir::print(graph, {.types = true, .names = true});
    if (is_small(graph)) run(graph);
  } catch (const Error& error) {
    check(error.kind() != ErrorKind::internal, "a text contradicts itself: ", error.what());
  }
  return 0;
}
