// Values that depend on how many tokens there are and were, and on no token: masks, positions, sizes. Where they meet what depends on
// tokens, sequences of different lengths would need different ones.
#pragma once

#include <set>
#include <vector>

#include "text/decoders/onnx/bindings.h"

namespace tenfold::decoders::onnx {

// A value of that kind with a reader that depends on tokens.
struct Border {
  NetworkTensor value;
  NetworkNodeRef reader;
  int operand = 0;
};

class Dependence {
 public:
  Dependence(const Network& net, const Bindings& bindings);
  bool of_lengths(NetworkTensor value) const { return of_lengths_.count(value.index) > 0; }   // and it is no constant
  // Each value once. Left out: operands that are extents, as Reshape's, and those of nodes that continue a cache.
  std::vector<Border> borders() const;
  // Integers of [1, tokens or more] among those values: positions may be, of files that compute them.
  std::vector<NetworkTensor> rows() const;

 private:
  void classify(const NetworkNodeInfo& node);
  bool is_replaced(const NetworkNodeRef& node, const NetworkNodeInfo& info, int operand) const;
  const Network& net_;
  const Bindings& bindings_;
  std::vector<NetworkNodeRef> nodes_;
  std::set<std::int32_t> of_lengths_, fixed_;   // fixed ones follow from constants alone
};

}  // namespace tenfold::decoders::onnx
