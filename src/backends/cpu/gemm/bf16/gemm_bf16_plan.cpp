// Which modes a bf16 product runs by, and what memory they take.
#include "backends/cpu/gemm/bf16/gemm_bf16_plan.h"

#include "backends/cpu/kernels/gemm/gemm_bf16_strips.h"

namespace tenfold::backends::cpu {
namespace {

// Strips are for few steps of k: 64 columns of B fit the first cache, all of them easily the second one.
bool suits_strips(const GemmBf16B& b, const Bf16Epilogue& epilogue) {
  constexpr std::int64_t kMaxBytes = 1 << 18;   // 256 to 1024 channels: rows come from the second cache for each pair
  const std::int64_t steps = b.taps * b.steps();
  return b.terms == 1 && steps > 0 && steps <= GemmBf16Strip::kMaxSteps && b.bytes() <= kMaxBytes && epilogue.all_bf16();
}

// Sums of a call that takes k whole, and what the block executor needs.
std::int64_t whole_k_bytes(bool beside_next, std::int64_t epilogue_bytes, std::int64_t columns) {
  using Plan = GemmBf16Plan;
  const std::int64_t waiting =
      beside_next ? 2 * Plan::kNr : std::min(round_up(columns, Plan::kNr), Plan::kMaxNc);  // two blocks take turns
  return std::max<std::int64_t>(waiting * Plan::kMr, GemmBf16StripState::kSums) * 4 + epilogue_bytes;
}

}  // namespace

GemmBf16Plan::GemmBf16Plan(const GemmBf16B& of, A rows, Loops order, const Bf16Epilogue& end, std::int64_t pieces) noexcept
    : matrix(of),
      a(rows),
      b(of.kept_as_f32() ? B::split_on_the_way : B::terms),
      k(pieces > 1 ? K::in_pieces : K::whole),
      loops(order),
      epilogue(end.simple() ? Epilogue::beside_next : Epilogue::after_block),
      micro_kernel(k == K::whole && suits_strips(of, end) ? MicroKernel::strips : MicroKernel::tiles),
      k_pieces(pieces),
      epilogue_bytes(round_up(end.scratch_bytes(), 64)) {}

std::int64_t GemmBf16Plan::split_bytes(const GemmBf16B& b, std::int64_t columns, Loops loops) {
  return b.kept_as_f32() ? std::min(ceil_div(columns, kNr), nc(loops) / kNr) * b.split_panel() * 2 : 0;
}

std::int64_t GemmBf16Plan::scratch_bytes(std::int64_t columns, std::int64_t rows) const {
  if (k == K::in_pieces) return split_bytes(columns) + round_up(columns, kNr) * round_up(rows, kMr) * 4 + epilogue_bytes;
  return split_bytes(columns) + whole_k_bytes(epilogue == Epilogue::beside_next, epilogue_bytes, columns);
}

std::int64_t gemm_bf16_k_pieces(const GemmBf16B& b, std::int64_t rows) {
  constexpr std::int64_t kMax = 5 << 18, kPiece = 1 << 20;   // bytes of rows
  const std::int64_t bytes = rows * b.depth() * 2 * b.terms;
  return b.taps > 1 || bytes <= kMax ? 1 : std::min(ceil_div(bytes, kPiece), b.steps());
}

std::int64_t gemm_bf16_scratch_bytes(const Bf16Epilogue& epilogue, std::int64_t columns) {
  return whole_k_bytes(epilogue.simple(), round_up(epilogue.scratch_bytes(), 64), columns);
}

}  // namespace tenfold::backends::cpu
