// rotary_embedding_rows: RotaryEmbedding of f32, row by row; x may be a view whose heads' elements lie side by side.
#include <cstring>

#include "backends/cpu/kernels/attention/rotary.h"
#include "backends/cpu/tactics/movement_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

struct Kernel {
  void (*turn)(float*, const float*, const float*, const float*, int64_t);
  int64_t packed_heads, half;   // packed_heads above 0: x is [batch, rows, heads * size]
  DType positions;
  bool has_positions;
};

Verdict supports(const Problem& p) {
  if (Verdict v = needs_avx2(p); !v) return v;
  if (Verdict v = no_epilogue(p); !v) return v;
  for (std::size_t i = 0; i < p.in.size(); ++i) {
    if (p.in[i].missing) continue;
    if (p.in[i].layout != kPlain) return Verdict::no("an operand is not in plain layout");
    if (i < 3 && p.in[i].dtype != DType::f32) return Verdict::no("an operand is not f32");
    if (!p.in[i].dense && (i > 0 || p.in[i].strides.back() != ir::Dim(1))) return Verdict::no("elements of a head are not side by side");
  }
  const bool positions = p.in.size() > 3 && !p.in[3].missing;
  if (positions && p.in[3].dtype != DType::i64 && p.in[3].dtype != DType::i32) return Verdict::no("positions are not i32 or i64");
  // What the operator wants of its tables is compared by the reference alone, unless the types say it.
  const ir::Dims& x = p.in[0].dims;
  const int64_t heads = p.attributes->integer("num_heads"), asked = p.attributes->integer("rotary_embedding_dim");
  if (!x.back().is_constant() || (x.size() == 3 && (heads < 1 || x[2].constant() % heads != 0)))
    return Verdict::no("heads of no constant size");
  const int64_t size = x.size() == 4 ? x[3].constant() : x[2].constant() / heads, turned = asked == 0 ? size : asked;
  if (turned < 2 || turned > size || turned % 2 != 0) return Verdict::no("an odd number of elements is turned, or too many");
  const ir::Dim batch = x[0], rows = x[x.size() - 2], half(turned / 2);
  if (positions && p.in[3].dims != ir::Dims{batch, rows}) return Verdict::no("positions are not one for each row");
  const ir::Dims expected = positions ? ir::Dims{p.in[1].dims[0], half} : ir::Dims{batch, rows, half};
  return Verdict::only_if(p.in[1].dims == expected && p.in[2].dims == expected,
                          "the tables' extents are not those that rows and heads ask for");
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  const RotaryKernels& kernels = pick(p, tenfold_rotary_avx2, tenfold_rotary_avx512);
  const bool positions = p.in.size() > 3 && !p.in[3].missing, interleaved = p.attributes->integer("interleaved") != 0;
  return std::make_shared<Kernel>(Kernel{.turn = interleaved ? kernels.turn_interleaved : kernels.turn,
                                         .packed_heads = p.in[0].dims.size() == 3 ? p.attributes->integer("num_heads") : 0,
                                         .half = p.in[1].dims.back().constant(),
                                         .positions = positions ? p.in[3].dtype : DType::i64,
                                         .has_positions = positions});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &y = args.out[0];
  const bool packed = kernel.packed_heads > 0;
  const int64_t rows = x.dims[packed ? 1 : 2], heads = packed ? kernel.packed_heads : x.dims[1];
  const int64_t size = packed ? x.dims[2] / heads : x.dims[3], half = kernel.half, rest = size - 2 * half;
  const auto place = [&](const Bound& operand, int64_t batch, int64_t row, int64_t head) {
    const int64_t step = packed ? size : operand.strides[1];
    return batch * operand.strides[0] + row * operand.strides[packed ? 1 : 2] + head * step;
  };
  if (kernel.has_positions)
    for (int64_t i = 0; i < x.dims[0] * rows; ++i)
      if (const int64_t at = integer_at(args.in[3], kernel.positions, i); at < 0 || at >= args.in[1].dims[0]) return Status::bad_index;
  for_row_parts(*args.parallel, x.dims[0] * rows, rows_per_part(heads * size), [&](int64_t first, int64_t last, int) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t line = (kernel.has_positions ? integer_at(args.in[3], kernel.positions, i) : i) * half;
      for (int64_t h = 0; h < heads; ++h) {
        const float* from = x.as<const float>() + place(x, i / rows, i % rows, h);
        float* to = y.as<float>() + place(y, i / rows, i % rows, h);
        kernel.turn(to, from, args.in[1].as<const float>() + line, args.in[2].as<const float>() + line, half);
        if (rest > 0) std::memcpy(to + 2 * half, from + 2 * half, static_cast<std::size_t>(rest) * sizeof(float));
      }
    }
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_rotary_embedding_rows() {
  return {.name = "rotary_embedding_rows",
          .ops = {"RotaryEmbedding"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"RotaryEmbedding f32[2,5,70,64] f32[80,32] f32[80,32] i32[2,70](0,79)",
                    "RotaryEmbedding f32[3,40,120] f32[3,40,20] f32[3,40,20] num_heads=3",
                    "RotaryEmbedding f32[1,2,9,50] f32[20,19] f32[20,19] i64[1,9](0,19) rotary_embedding_dim=38 interleaved=1"}};
}

}  // namespace tenfold::backends
