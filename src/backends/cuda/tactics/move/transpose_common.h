// What the tactics of Transpose share: its permutation, and the source seen in the order of the result.
#pragma once

#include "backends/cuda/tactics/copy_common.h"

namespace tenfold::backends::cuda {

inline std::vector<int> transpose_permutation(const Problem& p) {
  ir::Ints perm;
  for (auto d = static_cast<std::int64_t>(p.in[0].dims.size()); d-- > 0;) perm.push_back(d);
  perm = p.attributes->ints("perm", perm);
  return {perm.begin(), perm.end()};
}

inline BoundView permuted(const Bound& bound, const std::vector<int>& permutation) noexcept {
  BoundView view(bound);
  for (int d = 0; d < bound.rank; ++d) {
    const int source = permutation[static_cast<std::size_t>(d)];
    view.dims[d] = bound.dims[source], view.strides[d] = bound.strides[source];
  }
  return view;
}

}  // namespace tenfold::backends::cuda
