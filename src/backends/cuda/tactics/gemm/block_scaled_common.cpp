// Reading products with weights of 4 or 8 bits, and packing these.
#include "backends/cuda/tactics/gemm/block_scaled_common.h"

#include <algorithm>
#include <cstring>

#include "backends/cuda/tactics/gemm/mma_common.h"
#include "backends/cuda/tactics/threads_common.h"
#include "base/checked.h"

namespace tenfold::backends::cuda {
namespace {

using std::int64_t;

constexpr std::size_t kWords = 1, kScales = 2, kZeros = 3, kNorm = 4;

bool is_narrow(DType t) { return t == DType::i4 || t == DType::u4 || t == DType::i8 || t == DType::u8; }
bool is_signed(DType t) { return t == DType::i4 || t == DType::i8; }

Verdict constants_suit(const Problem& p) {
  if (!is_narrow(p.in[kWords].dtype)) return Verdict::no("the weights are no integers of 4 or 8 bits");
  if (p.in[kScales].dtype != DType::f32) return Verdict::no("the scales are not f32");
  for (std::size_t i = kWords; i <= kZeros; ++i)
    if (own(p, i) && !(p.in[i].constant && p.in[i].dims.size() == 2))
      return Verdict::no("weights, scales or zero points are no constant matrix");
  if (!own(p, kNorm)) return Verdict::ok();
  if (!is_short_float(p.in[kNorm].dtype)) return Verdict::no(cat("the norm's scale is ", name(p.in[kNorm].dtype)));
  return Verdict::only_if(p.in[kNorm].dense && p.in[kNorm].dims == ir::Dims{p.in[kWords].dims[0]}, "the norm's scale is not one dense row");
}

// A matrix of 4 or 8 bits by its elements, signed ones with half of their range added.
struct Elements {
  std::uint8_t* bytes;
  int bits;
  std::uint32_t flip;
  Elements(DType type, const void* data)
      : bytes(static_cast<std::uint8_t*>(const_cast<void*>(data))), bits(tenfold::bits(type)),
        flip(is_signed(type) ? 1u << (bits - 1) : 0u) {}
  std::uint32_t get(int64_t i) const {
    return (bits == 8 ? bytes[i] : bytes[i / 2] >> (i % 2 * 4) & 15u) ^ flip;
  }
  void set(int64_t i, std::uint32_t value) const {   // of what was 0
    value ^= flip;
    if (bits == 8) bytes[i] = static_cast<std::uint8_t>(value);
    else bytes[i / 2] = static_cast<std::uint8_t>(bytes[i / 2] | value << (i % 2 * 4));
  }
};

// visit(element of the matrix, word, shift), tile by tile.
template <class Visit>
void each_weight(const BlockScaledProblem& p, Visit visit) {
  const int64_t n = p.gemm.n, k = p.gemm.k, tile_rows = 256 / p.weight_bits();
  std::vector<BlockScaledPlace> places;
  for (int row = 0; row < tile_rows; ++row)
    for (int column = 0; column < 16; ++column) places.push_back(block_scaled_place(p.weight_bits(), column, row));
  for (int64_t panel = 0; panel < p.panels(); ++panel)
    for (int64_t tile = 0; tile < p.tiles(); ++tile)
      for (int64_t row = tile * tile_rows; row < std::min(k, (tile + 1) * tile_rows); ++row)
        for (int64_t column = panel * 16; column < std::min(n, (panel + 1) * 16); ++column) {
          const BlockScaledPlace& place = places[static_cast<std::size_t>(row % tile_rows * 16 + column % 16)];
          visit(row * n + column, (panel * p.tiles() + tile) * 128 + place.word, place.shift);
        }
}
// visit(element of the matrix, where it is packed).
template <class Visit>
void each_scale(const BlockScaledProblem& p, Visit visit) {
  for (int64_t block = 0; block < p.blocks(); ++block)
    for (int64_t n = 0; n < p.gemm.n; ++n)
      visit(block * p.gemm.n + n, (n / 16 * p.blocks() + block) * 16 + block_scaled_column(static_cast<int>(n % 16)));
}

}  // namespace

BlockScaledProblem BlockScaled::complete() const {
  BlockScaledProblem all = problem;
  all.gemm.body = epilogue.has_body ? &epilogue.body : nullptr, all.gemm.epilogue = epilogue.operands;
  return all;
}

Verdict read_block_scaled(const Problem& p, BlockScaled& read) {
  if (Verdict v = constants_suit(p); !v) return v;
  Problem product = p;   // what a MatMul would be asked
  product.in.assign(p.in.begin(), p.in.begin() + 2);
  product.in.insert(product.in.end(), p.in.begin() + p.anchor_inputs, p.in.end());
  product.in[kWords].dtype = p.in[0].dtype, product.anchor_inputs = 2;
  FusedGemm fused;
  if (Verdict v = read_matmul(product, fused, F32::exact); !v) return v;
  for (int& i : fused.epilogue.inputs) i += p.anchor_inputs - 2;
  read.epilogue = std::move(fused.epilogue), read.rows = fused.rows;
  read.problem.gemm = std::move(fused.gemm), read.problem.gemm.weight = p.in[kWords].dtype;
  read.problem.block = std::min(p.attributes->integer("block_size"), read.problem.gemm.k);
  read.problem.zeros = own(p, kZeros), read.problem.norm = own(p, kNorm);
  if (read.problem.norm) read.problem.epsilon = p.attributes->number("epsilon"), read.problem.norm_scale = p.in[kNorm].dtype;
  return Verdict::only_if(read.problem.gemm.k < int64_t{1} << 30 && read.problem.gemm.n < int64_t{1} << 30, "the matrix is too large");
}
BlockScaled block_scaled_of(const Problem& p) {
  BlockScaled read;
  read_block_scaled(p, read);
  return read;
}

Verdict supports_block_scaled_mma(const Problem& p, BlockScaled& read) {
  if (Verdict v = read_block_scaled(p, read); !v) return v;
  if (p.device->arch < 80) return Verdict::no("needs sm_80");
  if (p.in[0].dtype == DType::f32 && !p.numerics.allows(ir::Rounding::tf32))
    return Verdict::no("TF32 is not allowed (--noTF32, BuildConfig::tf32 = false)");
  return Verdict::only_if(read.problem.block % 16 == 0 || read.problem.block == read.problem.gemm.k, "blocks are no multiples of 16");
}

int64_t block_scaled_bytes(const Problem& p, const Config&, int input) {
  const BlockScaledProblem b = block_scaled_of(p).problem;
  if (input == static_cast<int>(kWords)) return b.panels() * b.tiles() * 512;
  if (input == static_cast<int>(kScales)) return b.panels() * b.blocks() * 64;
  return input == static_cast<int>(kZeros) && b.zeros ? b.panels() * b.blocks() * 16 : -1;
}

void block_scaled_pack(const Problem& p, const Config& c, int input, std::span<const Tensor* const> constants, void* packed) {
  const BlockScaledProblem b = block_scaled_of(p).problem;
  const Tensor& from = *constants[static_cast<std::size_t>(input)];
  std::memset(packed, 0, static_cast<std::size_t>(block_scaled_bytes(p, c, input)));
  if (input == static_cast<int>(kScales)) {
    const auto* scales = from.data<float>();
    each_scale(b, [&](int64_t i, int64_t at) { static_cast<float*>(packed)[at] = scales[i]; });
    return;
  }
  const Elements elements(from.dtype(), from.raw());
  if (input == static_cast<int>(kZeros))
    each_scale(b, [&](int64_t i, int64_t at) { static_cast<std::uint8_t*>(packed)[at] = static_cast<std::uint8_t>(elements.get(i)); });
  else
    each_weight(b, [&](int64_t i, int64_t word, int shift) { static_cast<std::uint32_t*>(packed)[word] |= elements.get(i) << shift; });
}

Tensor block_scaled_unpack(const Problem& p, const Config&, int input, const void* packed) {
  const BlockScaledProblem b = block_scaled_of(p).problem;
  const bool matrix = input == static_cast<int>(kWords);
  Tensor to(input == static_cast<int>(kScales) ? DType::f32 : b.gemm.weight, {matrix ? b.gemm.k : b.blocks(), b.gemm.n});
  if (input == static_cast<int>(kScales)) {
    auto* const scales = to.mutable_data<float>();
    each_scale(b, [&](int64_t i, int64_t at) { scales[i] = static_cast<const float*>(packed)[at]; });
    return to;
  }
  std::memset(to.mutable_raw(), 0, static_cast<std::size_t>(to.bytes()));
  const Elements elements(to.dtype(), to.mutable_raw());
  const std::uint32_t mask = (1u << b.weight_bits()) - 1;
  if (matrix)
    each_weight(b, [&](int64_t i, int64_t word, int shift) {
      elements.set(i, static_cast<const std::uint32_t*>(packed)[word] >> shift & mask);
    });
  else
    each_scale(b, [&](int64_t i, int64_t at) { elements.set(i, static_cast<const std::uint8_t*>(packed)[at]); });
  return to;
}

double block_scaled_work(const Problem& p) {
  const BlockScaled read = block_scaled_of(p);
  return 2.0 * static_cast<double>(read.rows) * static_cast<double>(read.problem.gemm.n * read.problem.gemm.k);
}

BlockScaledArguments block_scaled_arguments(const RunArgs& args, const BlockScaled& read) noexcept {
  BlockScaledArguments a{args.in[0].data, args.in[kWords].data, args.in[kScales].data, nullptr, args.out[0].data, {}, matmul_rows(args),
                         nullptr};
  if (read.problem.zeros) a.zeros = args.in[kZeros].data;
  if (read.problem.norm) a.norm = args.in[kNorm].data;
  place_epilogue(args, read.epilogue, a.epilogue);
  return a;
}


}  // namespace tenfold::backends::cuda
