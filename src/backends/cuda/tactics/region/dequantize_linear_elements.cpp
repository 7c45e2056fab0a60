// dequantize_linear_elements: DequantizeLinear of integers of 4 and 8 bits, a thread for each element: of rows that were gathered from a
// table of them, with scales that only a run knows.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

// With elements of 4 bits counted as bytes, which is how the frame counts.
Problem in_bytes(const Problem& p) {
  Problem bytes = p;
  for (const std::size_t i : {0u, 2u})
    if (given(p, i) && bits(p.in[i].dtype) == 4) bytes.in[i].dtype = DType::u8;
  return bytes;
}

Verdict supports(const Problem& p) {
  const DType type = p.in[0].dtype;
  if (type != DType::i4 && type != DType::u4 && type != DType::i8 && type != DType::u8)
    return Verdict::no("the elements are no integers of 4 or 8 bits");
  if (p.body) return Verdict::no("no epilogue is possible");
  if (bits(type) == 4 && !(p.in[0].dense && (!given(p, 2) || p.in[2].dense))) return Verdict::no("elements of 4 bits are not dense");
  return can_generate_threads(in_bytes(p), true);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const DType type = p.in[0].dtype;
  const auto rank = static_cast<std::int64_t>(p.in[0].dims.size());
  const bool one = ir::product(p.in[1].dims) == ir::Dim(1);
  KernelText text;
  text.define("NIBBLES", bits(type) == 4 ? 1 : 0), text.define("SIGNED", type == DType::i4 || type == DType::i8 ? 1 : 0);
  text.define("AXIS", rank > 0 ? (p.attributes->integer("axis") + rank) % rank : 0), text.define("ONE_SCALE", one ? 1 : 0);
  text.define("BLOCK", p.attributes->integer("block_size"));
  return std::make_shared<OpenThreads>(in_bytes(p), opening, "region/dequantize_linear.cu", text);
}

}  // namespace

Tactic cuda_dequantize_linear_elements() {
  return {.name = "dequantize_linear_elements",
          .ops = {"DequantizeLinear"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each,
          .cases = {"DequantizeLinear i4[3,2,64] f16[3,2,2](0.01,0.05) i4[3,2,2] axis=2 block_size=32",
                    "DequantizeLinear u4[5,7] f32[5](0.01,0.05) u4[5] axis=0",
                    "DequantizeLinear u4[6,40] f32[6,3](0.01,0.05) block_size=16",
                    "DequantizeLinear i8[4,7] bf16[7](0.01,0.05) i8[7] axis=-1"}};
}

}  // namespace tenfold::backends
