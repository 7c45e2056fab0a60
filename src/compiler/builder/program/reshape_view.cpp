// Reshaping a strided tensor without moving it: groups of dims with equal products, each contiguous in itself.
#include "builder/program/storage.h"

namespace tenfold::builder {

bool reshape_view(const ir::Dims& dims, const ir::Dims& strides, const ir::Dims& new_dims, ir::Dims& new_strides) {
  new_strides.assign(new_dims.size(), ir::Dim(1));
  std::size_t i = dims.size(), j = new_dims.size();
  while (i > 0 || j > 0) {
    // From the inside out: the smallest groups on both sides that hold the same number of elements.
    while (i > 0 && dims[i - 1] == ir::Dim(1)) --i;
    while (j > 0 && new_dims[j - 1] == ir::Dim(1)) --j;
    if (i == 0 || j == 0) break;
    const std::size_t i_end = i, j_end = j;
    ir::Dim old_product = dims[--i], new_product = new_dims[--j];
    while (old_product != new_product) {
      const bool both_known = old_product.is_constant() && new_product.is_constant();
      const bool grow_old = both_known ? old_product.constant() < new_product.constant() : i_end - i <= j_end - j;
      if (grow_old && i > 0) old_product = old_product * dims[--i];
      else if (j > 0) new_product = new_product * new_dims[--j];
      else if (i > 0) old_product = old_product * dims[--i];
      else return false;
    }
    ir::Dim stride = strides[i_end - 1];
    for (std::size_t k = i_end - 1; k-- > i;)   // the old group must be contiguous up to its inner stride
      if (dims[k] != ir::Dim(1) && strides[k] != strides[i_end - 1] * ir::product(std::span(dims).subspan(k + 1, i_end - k - 1)))
        return false;
    for (std::size_t k = j_end; k-- > j;) {
      new_strides[k] = stride;
      stride = stride * new_dims[k];
    }
  }
  for (; i > 0; --i)
    if (dims[i - 1] != ir::Dim(1)) return false;
  for (; j > 0; --j)
    if (new_dims[j - 1] != ir::Dim(1)) return false;
  return true;
}

}  // namespace tenfold::builder
