// gemm_tiled: matrix products of floats on plain cores, whatever their extents, batches and strides are: two
// activations, batches that are broadcast, vectors, sizes that only a run knows; Gemm with operands transposed or not.
// Here products are read, tiles chosen, and each operand's strides in a run found.
#include <algorithm>

#include "backends/cuda/codegen/body_text.h"
#include "backends/cuda/codegen/gemm/gemm_tiled.h"
#include "backends/cuda/device/launch.h"
#include "base/checked.h"
#include "ir/op_def.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

using std::int64_t;

constexpr int64_t kMaxExtent = (int64_t{1} << 31) - 1024;   // of a matrix: kernels count them in 32 bits

// {rows, columns, warps down, warps across}
constexpr int kTiles[][4] = {{128, 128, 4, 2}, {64, 64, 4, 2}, {32, 32, 2, 1}, {16, 64, 1, 2}};
TiledTile tile_of(const Config& c) {
  const int* t = *std::find_if(std::begin(kTiles), std::end(kTiles), [&](const auto& k) { return k[0] == c[0] && k[1] == c[1]; });
  return {t[0], t[1], t[2], t[3]};
}

bool is_gemm(const Problem& p) { return p.op->name == "Gemm"; }
bool transposed(const Problem& p, int operand) {
  return is_gemm(p) && p.attributes->integer(operand == 0 ? "transA" : "transB", 0) != 0;
}

// The most that a run may have of rows, columns, terms and matrices.
struct Extents {
  int64_t m = 1, n = 1, k = 1, batch = 1;
};
Extents max_extents(const Problem& p) {
  const ir::Dims &a = p.in[0].dims, &b = p.in[1].dims, &y = p.out[0].dims;
  const auto upper = [&](ir::Dim d) { return std::max<int64_t>(p.bounds(d).upper, 1); };
  Extents e;
  std::size_t rest = y.size();
  if (b.size() > 1) e.n = upper(y[--rest]);
  if (a.size() > 1) e.m = upper(y[--rest]);
  e.k = upper(transposed(p, 0) ? a[0] : a.back());
  for (std::size_t d = 0; d < rest; ++d) e.batch = std::min(e.batch * std::min(upper(y[d]), int64_t{1} << 31), int64_t{1} << 31);
  return e;
}
double tiles_of(const Extents& e, int64_t rows, int64_t columns) {
  return static_cast<double>(ceil_div(e.m, rows)) * static_cast<double>(ceil_div(e.n, columns)) * static_cast<double>(e.batch);
}

// What follows the sum, Gemm's factors and addend included; its inputs after the first are operands 2, 3, ... that are there.
bool has_addend(const Problem& p) { return is_gemm(p) && p.in.size() > 2 && !p.in[2].missing; }
bool body_of(const Problem& p, ir::Body& body) {
  if (!is_gemm(p)) {
    if (p.body) body = *p.body;
    return p.body != nullptr;
  }
  const DType type = p.in[0].dtype, sum_type = type == DType::f64 ? DType::f64 : DType::f32;
  const double alpha = p.attributes->number("alpha", 1.0f), beta = p.attributes->number("beta", 1.0f);
  ir::BodyBuilder b(has_addend(p) ? std::vector<DType>{sum_type, p.in[2].dtype} : std::vector<DType>{sum_type});
  std::uint16_t y = b.binary(ir::Prim::mul, 0, b.constant(sum_type, alpha));
  if (has_addend(p)) y = b.binary(ir::Prim::add, y, b.binary(ir::Prim::mul, b.cast(1, sum_type), b.constant(sum_type, beta)));
  body = b.finish({y});
  return true;
}

Verdict supports(const Problem& p) {
  const DType t = p.in[0].dtype;
  if (t != DType::f32 && t != DType::f16 && t != DType::bf16 && t != DType::f64) return Verdict::no(cat("operands are ", name(t)));
  if (p.in[1].dtype != t) return Verdict::no("operands differ in type");
  if (is_gemm(p) && p.body) return Verdict::no("no epilogue is possible");
  if (!p.body && p.out[0].dtype != t) return Verdict::no("the result has another type");
  if (p.in[0].dims.empty() || p.in[1].dims.empty() || p.out[0].dims.size() > kTiledAxes) return Verdict::no("a scalar, or too many dims");
  std::size_t operands = 0;   // of the epilogue
  for (std::size_t i = 0; i < p.in.size(); ++i) {
    const OperandDesc& o = p.in[i];
    if (o.missing) continue;
    if (o.layout != kPlain && !same_as_plain(o.layout, o.dims)) return Verdict::no("an operand is not in plain layout");
    if (i < 2) continue;
    ++operands;
    if (o.dims.size() > p.out[0].dims.size()) return Verdict::no("an operand of the epilogue has more dims than the result");
  }
  const OperandDesc& y = p.out[0];
  if (y.layout != kPlain && !same_as_plain(y.layout, y.dims)) return Verdict::no("the result is not in plain layout");
  if (operands > kTiledEpilogueOperands) return Verdict::no("the epilogue has too many operands");
  ir::Body body;
  if (body_of(p, body)) {
    if (body.inputs.size() != operands + 1) return Verdict::no("the epilogue has other operands than the problem");
    if (Verdict v = can_print(body); !v) return v;
  }
  const Extents e = max_extents(p);
  if (std::max({e.m, e.n, e.k}) >= kMaxExtent) return Verdict::no("a matrix has too many rows or columns");
  return Verdict::only_if(tiles_of(e, 16, 32) < 2147483648.0, "more tiles than a grid has");
}

// The two tiles that should take least: waves over its multiprocessors, which small tiles keep less busy.
std::vector<Config> configs(const Problem& p) {
  constexpr double kBusy[] = {1, 0.7, 0.4, 0.4};
  const int processors = figures_of(*p.device).multiprocessors;
  const Extents e = max_extents(p);
  std::vector<std::pair<double, Config>> all;
  for (std::size_t i = 0; i < std::size(kTiles); ++i) {
    const auto& t = kTiles[i];
    const double waves = std::ceil(tiles_of(e, t[0], t[1]) / processors);
    all.push_back({(waves + 0.2) * t[0] * t[1] / kBusy[i], {t[0], t[1]}});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const OperandDesc& b = p.in[1];
  if (bits(b.dtype) == 16 && b.constant && b.dims.size() == 2) return {all[0].second};   // tensor cores win: each has to be compiled
  return {all[0].second, all[1].second};
}
Verdict valid(const Problem&, const Config& c) {
  const auto is_it = [&](const auto& t) { return t[0] == c[0] && t[1] == c[1]; };
  return Verdict::only_if(c.size() == 2 && std::any_of(std::begin(kTiles), std::end(kTiles), is_it), "there is no such tile");
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function vectors = nullptr, singles = nullptr;
  TiledTile tile;
  std::vector<int> epilogue;   // operands
  bool a_transposed = false, b_transposed = false;
  int bytes = 4;           // of an element
};
// By what is known of the operand's rows; vectors, and rows of one element, whose strides are of no account, are left to `singles`.
bool could_come_in_vectors(const Problem& p, std::size_t i, int64_t vector) {
  const ir::Dim last = p.in[i].dims.back();
  return p.in[i].dims.size() > 1 && (!last.is_constant() || (last.constant() > 1 && last.constant() % vector == 0));
}
bool always_comes_in_vectors(const Problem& p, std::size_t i, int64_t vector) {
  return p.in[i].dense && p.in[i].dims.back().is_constant() && could_come_in_vectors(p, i, vector);
}
std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  k->tile = tile_of(c), k->bytes = bits(p.in[0].dtype) / 8;
  k->a_transposed = transposed(p, 0), k->b_transposed = transposed(p, 1);
  ir::Body body;
  TiledProblem t{.in = p.in[0].dtype, .out = p.out[0].dtype, .body = body_of(p, body) ? &body : nullptr, .epilogue = {}};
  for (std::size_t i = 2; i < p.in.size(); ++i)
    if (!p.in[i].missing) k->epilogue.push_back(static_cast<int>(i)), t.epilogue.push_back(p.in[i].dtype);
  const int64_t vector = 16 / k->bytes;
  t.vectors = could_come_in_vectors(p, 0, vector) && could_come_in_vectors(p, 1, vector);
  const bool always = always_comes_in_vectors(p, 0, vector) && always_comes_in_vectors(p, 1, vector);
  t.singles = !always || p.may_be_misaligned();
  t.a_along = !k->a_transposed, t.b_along = k->b_transposed;
  k->module = device_of(*p.device).load(generate_gemm_tiled(t, k->tile), opening);
  if (t.vectors) k->vectors = k->module->function("vectors");
  if (t.singles) k->singles = k->module->function("singles");
  return k;
}

// Which dims of an operand are its rows, columns and the last of its batch; -1: it has none.
struct Axes {
  int down, across, batch;
};
Axes axes_of(int rank, bool has_down, bool has_across) {
  int rest = rank;
  const int across = has_across ? --rest : -1, down = has_down ? --rest : -1;
  return {down, across, rest - 1};
}
int64_t step(const Bound& o, int dim) { return dim < 0 || o.dims[dim] == 1 ? 0 : o.strides[dim]; }

// Where an operand lies whose batch is aligned to that of the result, of `axes` dims.
TiledPlace place_of(const Bound& o, const Axes& own, int axes) {
  TiledPlace place{step(o, own.down), step(o, own.across), {}};
  for (int d = 0; d < axes; ++d) place.batch[d] = step(o, std::max(own.batch - axes + 1 + d, -1));
  return place;
}

// Joins axes of the batch that every operand walks in one stride; the innermost joins the rows where the second operand is the same for
// all.
void join(TiledArguments& a, std::size_t epilogue_operands) {
  TiledPlace* places[3 + kTiledEpilogueOperands] = {&a.at_a, &a.at_b, &a.at_y};
  for (std::size_t o = 0; o < epilogue_operands; ++o) places[3 + o] = &a.at_epilogue[o];
  const std::span<TiledPlace*> all(places, 3 + epilogue_operands);
  const auto drop = [&](int d) {
    for (int e = d; e + 1 < a.axes; ++e) {
      a.extent[e] = a.extent[e + 1];
      for (TiledPlace* p : all) p->batch[e] = p->batch[e + 1];
    }
    --a.axes;
  };
  for (int d = a.axes - 1; d >= 0; --d)
    if (a.extent[d] == 1) drop(d);
  for (int d = a.axes - 2; d >= 0; --d) {
    const int64_t inner = a.extent[d + 1];
    if (!std::all_of(all.begin(), all.end(), [&](TiledPlace* p) { return p->batch[d] == p->batch[d + 1] * inner; })) continue;
    for (TiledPlace* p : all) p->batch[d] = p->batch[d + 1];
    a.extent[d] *= inner, a.extent[d + 1] = 1;
    drop(d + 1);
  }
  while (a.axes > 0) {
    const int last = a.axes - 1;
    const int64_t rows = a.m * a.extent[last];
    if (a.at_b.batch[last] != 0 || rows >= kMaxExtent) return;
    if (a.m == 1)
      for (TiledPlace* p : all) p->down = p == &a.at_b ? p->down : p->batch[last];
    else if (!std::all_of(all.begin(), all.end(), [&](TiledPlace* p) { return p == &a.at_b || p->batch[last] == p->down * a.m; }))
      return;
    a.m = static_cast<int>(rows), --a.axes;
  }
}

// May the operand be read 16 bytes at once? `one`: its stride where it should lie together, `count` its extent there; `other`: the other
// stride.
bool comes_in_vectors(const void* data, const TiledPlace& place, int axes, int64_t one, int64_t count, int64_t other, int64_t vector) {
  bool all = reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && one == 1 && count % vector == 0 && other % vector == 0;
  for (int d = 0; d < axes; ++d) all = all && place.batch[d] % vector == 0;
  return all;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &w = args.in[1], &y = args.out[0];
  const bool has_rows = x.rank > 1, has_columns = w.rank > 1;
  Axes of_a = axes_of(x.rank, has_rows, true), of_b = axes_of(w.rank, true, has_columns);
  const Axes of_y = axes_of(y.rank, has_rows, has_columns);
  if (k.a_transposed) std::swap(of_a.down, of_a.across);
  if (k.b_transposed) std::swap(of_b.down, of_b.across);
  const int64_t m = of_y.down < 0 ? 1 : y.dims[of_y.down], n = of_y.across < 0 ? 1 : y.dims[of_y.across], terms = x.dims[of_a.across];
  if (w.dims[of_b.down] != terms) return Status::invalid_shape;
  if (std::max({m, n, terms}) >= kMaxExtent) return Status::failed;
  TiledArguments a{.a = x.data, .b = w.data, .y = y.data, .epilogue = {}, .m = static_cast<int>(m), .n = static_cast<int>(n),
                   .k = static_cast<int>(terms), .axes = 0, .a_along = 1, .b_along = 0, .extent = {}, .at_a = {}, .at_b = {}, .at_y = {},
                   .at_epilogue = {}};
  a.axes = of_y.batch + 1;
  int64_t batches = 1;
  for (int d = 0; d < a.axes; ++d) a.extent[d] = y.dims[d], batches *= y.dims[d];
  if (batches * m * n == 0) return Status::ok;
  a.at_a = place_of(x, of_a, a.axes), a.at_b = place_of(w, of_b, a.axes), a.at_y = place_of(y, of_y, a.axes);
  for (std::size_t o = 0; o < k.epilogue.size(); ++o) {
    const Bound& t = args.in[static_cast<std::size_t>(k.epilogue[o])];
    const int shift = y.rank - t.rank;   // dims that it lacks
    const Axes own{of_y.down - shift, of_y.across - shift, of_y.batch - shift};
    a.epilogue[o] = t.data, a.at_epilogue[o] = place_of(t, {std::max(own.down, -1), std::max(own.across, -1), own.batch}, a.axes);
  }
  join(a, k.epilogue.size());
  const int64_t a_term = a.at_a.across, a_line = a.at_a.down, b_term = a.at_b.down, b_line = a.at_b.across, vector = 16 / k.bytes;
  a.a_along = a_term <= a_line || a_line == 0, a.b_along = b_term <= b_line || b_line == 0;
  const bool vectors = comes_in_vectors(a.a, a.at_a, a.axes, k.a_transposed ? a_line : a_term, k.a_transposed ? a.m : a.k,
                                        k.a_transposed ? a_term : a_line, vector) &&
                       comes_in_vectors(a.b, a.at_b, a.axes, k.b_transposed ? b_term : b_line, k.b_transposed ? a.k : a.n,
                                        k.b_transposed ? b_line : b_term, vector);
  const Function function = vectors && k.vectors ? k.vectors : k.singles;
  if (!function) return Status::failed;
  int64_t blocks = ceil_div(int64_t{a.m}, int64_t{k.tile.rows}) * ceil_div(int64_t{a.n}, int64_t{k.tile.columns});
  for (int d = 0; d < a.axes; ++d) blocks *= a.extent[d];
  if (blocks >= int64_t{1} << 31) return Status::failed;
  return launch(queue_of(args), function, {static_cast<unsigned>(blocks)}, static_cast<unsigned>(k.tile.threads()), 0, &a, Start::early);
}

double work(const Problem& p) {
  const Extents e = max_extents(p);
  return 2.0 * static_cast<double>(e.m) * static_cast<double>(e.n) * static_cast<double>(e.k) * static_cast<double>(e.batch);
}

}  // namespace

Tactic cuda_gemm_tiled() {
  return {.name = "gemm_tiled",
          .ops = {{"MatMul", "matmul_tiled"}, {"Gemm", "gemm_tiled"}},
          .supports = supports,
          .configs = configs,
          .valid = valid,
          .open = open,
          .run = run,
          .work = work,
          .cases = {"MatMul f16[3,33,40] f16[3,40,24]",
                    "MatMul f32[128,384] f32[384,100]!",
                    "MatMul f32[2,1,130,36] f32[3,36,132]",
                    "MatMul f32[3,1,2,5,20] f32[4,2,20,7]",
                    "MatMul f16[4,1,70,33] f16[3,33,65]",
                    "MatMul bf16[5,2,64,48] bf16[48,72]",
                    "MatMul f64[2,129,18] f64[2,18,131]",
                    "MatMul f32[3,1,40] f32[40,24]",
                    "MatMul f32[6,72] f32[4,72,130]",
                    "MatMul f32[260,200] f32[200,264]",
                    "Gemm f16[72,200] f16[136,72] f16[136] transA=1 transB=1 alpha=0.5 beta=2.0",
                    "Gemm bf16[130,40] bf16[72,40]! bf16[130,1] transB=1",
                    "Gemm f32[96,131] f32[96,68] transA=1 alpha=-1.5"}};
}

}  // namespace tenfold::backends
