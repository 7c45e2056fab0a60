// constant_of_shape_elements: ConstantOfShape, a thread for each element.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  if (bits(p.attributes->tensor("value").dtype()) < 8) return Verdict::no("elements are not of 8 to 64 bits");
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const Tensor& value = p.attributes->tensor("value");
  std::uint64_t raw = 0;
  std::memcpy(&raw, value.raw(), static_cast<std::size_t>(bits(value.dtype()) / 8));
  Problem moved = p;  // bits, whatever they stand for
  const int size = bits(value.dtype());
  moved.out[0].dtype = size == 8 ? DType::u8 : size == 16 ? DType::u16 : size == 32 ? DType::u32 : DType::u64;
  KernelText text;
  text.define("VALUE", cat(raw, "ull"));
  return std::make_shared<OpenThreads>(moved, opening, "move/constant_of_shape_elements.cu", text);
}

}  // namespace

Tactic cuda_constant_of_shape_elements() {
  return {.name = "constant_of_shape_elements",
          .ops = {"ConstantOfShape"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
