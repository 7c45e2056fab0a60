#include "builder/shared_constants.h"

#include <cstring>

#include "base/check.h"
#include "base/files/hash.h"

namespace tenfold::builder {
namespace {

constexpr std::int64_t kLarge = 16 << 10;   // bytes from which on a copy counts

std::span<const std::byte> bytes_of(const Tensor& t) {
  return {static_cast<const std::byte*>(t.raw()), static_cast<std::size_t>(t.bytes())};
}

bool is_large(const ir::Constant& c) { return c.tensor.dtype() != DType::string && c.tensor.bytes() >= kLarge; }

template <class Use>
void each_large(const ir::Graph& graph, Use&& use) {
  for (const auto& value : graph.values())
    if (value->constant && is_large(*value->constant)) use(value->constant);
  for (const auto& node : graph.nodes())
    for (const auto& body : node->graphs) each_large(*body, use);
}

}  // namespace

void SharedConstants::know(const ir::Graph& source) {
  each_large(source, [&](const Shared& constant) { known_.insert(constant.get()); });
}

void SharedConstants::share(ir::Graph& graph) {
  each_large(graph, [&](const Shared& held) {
    Shared& constant = const_cast<Shared&>(held);   // of a graph that is ours to change
    if (constant->recipe || known_.count(constant.get())) return;   // a refit may make equal ones differ
    const Tensor& t = constant->tensor;
    std::vector<Shared>& alike = by_content_[cat(name(t.dtype()), text(t.shape()), " ", constant->weight_name, " ", hash64(bytes_of(t)))];
    for (const Shared& other : alike)
      if (std::memcmp(other->tensor.raw(), t.raw(), static_cast<std::size_t>(t.bytes())) == 0) {
        constant = other;
        return;
      }
    alike.push_back(constant), known_.insert(constant.get());
  });
}

}  // namespace tenfold::builder
