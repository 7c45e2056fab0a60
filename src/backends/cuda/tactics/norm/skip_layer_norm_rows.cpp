// skip_layer_norm_rows: the row kernel of LayerNormalization on a sum of rows that it looks up. An index outside its
// table adds nothing and is noted.
#include "backends/cuda/codegen/norm/rows.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/elements_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

bool is_indexed(const Problem& p, std::size_t i) { return i + 1 < p.in.size() && !p.in[i + 1].missing; }

// A term without indices repeats as a whole: its dims are the last ones of the result, or 1.
bool repeats_as_a_whole(const ir::Dims& term, const ir::Dims& result) {
  if (term.size() > result.size()) return false;
  bool started = false;
  for (std::size_t d = 0; d < term.size(); ++d) {
    const ir::Dim extent = result[result.size() - term.size() + d];
    if (term[d] == extent && !(extent == ir::Dim(1))) started = true;
    else if (!(term[d] == ir::Dim(1)) || (started && !(extent == ir::Dim(1)))) return false;
  }
  return true;
}

Verdict supports(const Problem& p) {
  const ir::Dims& y = p.out[0].dims;
  const DType t = p.in[2].dtype;
  if (t != DType::f32 && t != DType::f16 && t != DType::bf16) return Verdict::no(cat("terms are ", name(t)));
  if (p.in.size() > 2 + 2 * kMaxRowTerms) return Verdict::no("too many terms");
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& o : *side)
      if (!o.missing && (!o.dense || (o.layout != kPlain && !same_as_plain(o.layout, o.dims))))
        return Verdict::no("an operand is not dense and plain");
  for (std::size_t i = 2; i < p.in.size(); i += 2) {
    if (p.in[i].dtype != t) return Verdict::no("terms differ in type");
    if (!is_indexed(p, i) && !(p.in[i].dims.back() == y.back() && repeats_as_a_whole(p.in[i].dims, y)))
      return Verdict::no("a term does not repeat as a whole");
    if (!is_indexed(p, i)) continue;
    if (p.in[i + 1].dtype != DType::i64 && p.in[i + 1].dtype != DType::i32) return Verdict::no("indices are not i32 or i64");
    if (!repeats_as_a_whole(p.in[i + 1].dims, ir::Dims(y.begin(), y.end() - 1))) return Verdict::no("indices do not repeat as a whole");
  }
  for (int i = 0; i < 2; ++i)
    if (!is_float(p.in[static_cast<std::size_t>(i)].dtype) || !has_c_type(p.in[static_cast<std::size_t>(i)].dtype))
      return Verdict::no("scale or bias is of another type");
  if (!y.back().is_constant() || y.back().constant() < 1 || y.back().constant() > kLongestRow)
    return Verdict::no("rows are empty or too long");
  return Verdict::only_if(p.bounds(ir::product(y)).upper < std::int64_t{1} << 31, "too many elements");
}

struct Kernel {
  RowKernel kernel;
  std::shared_ptr<const LoadedModule> module;
  Function vectors = nullptr, singles = nullptr;
  std::int64_t length = 0, bytes = 0;  // of a row, and of one of its elements in all terms and results
  std::vector<bool> indexed;
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  RowProblem rows{.kind = RowKind::layer_norm, .in = p.in[2].dtype, .out = p.out[0].dtype, .scale = p.in[0].dtype, .bias = p.in[1].dtype};
  rows.has_bias = true, rows.length = p.out[0].dims.back().constant();
  rows.epsilon = static_cast<double>(p.attributes->number("epsilon"));
  if (p.out.size() > 1 && !p.out[1].missing) {
    rows.quantized = p.out[1].dtype;
    rows.quantized_scale = static_cast<double>(p.attributes->number("scale"));
    rows.quantized_zero = static_cast<double>(p.attributes->number("zero"));
  }
  auto k = std::make_shared<Kernel>();
  for (std::size_t i = 2; i < p.in.size(); i += 2) {
    const bool indexed = is_indexed(p, i);
    rows.terms.push_back({indexed, indexed ? p.in[i + 1].dtype : DType::i64});
    k->indexed.push_back(indexed);
  }
  k->kernel = generate_rows(rows);
  k->module = device_of(*p.device).load(k->kernel.source, opening);
  k->vectors = k->module->function("vectors"), k->singles = k->module->function("singles");
  k->length = rows.length;
  k->bytes = static_cast<std::int64_t>(rows.terms.size()) * bits(rows.in) / 8 + bits(rows.out) / 8;
  return k;
}

std::int64_t elements(const Bound& b) noexcept {
  std::int64_t count = 1;
  for (int d = 0; d < b.rank; ++d) count *= b.dims[d];
  return count;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  RowTermArguments a{};
  a.y = args.out[0].data, a.scale = args.in[0].data, a.bias = args.in[1].data, a.rows = elements(args.out[0]) / k.length;
  a.bad_index = queue_of(args).bad_index;
  if (args.out.size() > 1) a.quantized = args.out[1].data;
  auto bits = reinterpret_cast<std::uint64_t>(a.quantized) | reinterpret_cast<std::uint64_t>(a.y) |
              reinterpret_cast<std::uint64_t>(a.scale) | reinterpret_cast<std::uint64_t>(a.bias);
  for (std::size_t t = 0; t < k.indexed.size(); ++t) {
    const Bound& term = args.in[2 + 2 * t];
    a.x[t] = term.data, a.extent[t] = term.dims[0], a.count[t] = elements(term) / k.length;
    if (k.indexed[t]) a.index[t] = args.in[3 + 2 * t].data, a.count[t] = elements(args.in[3 + 2 * t]);
    bits |= reinterpret_cast<std::uint64_t>(a.x[t]);
    if (a.count[t] == 0) return Status::ok;   // then there are no rows either
  }
  const Grid grid{ceil_div(a.rows, std::int64_t{k.kernel.rows})};
  return launch(queue_of(args), bits % 16 == 0 ? k.vectors : k.singles, grid, static_cast<unsigned>(k.kernel.threads * k.kernel.rows), 0,
                &a, start_for(a.rows * k.length * k.bytes));
}

}  // namespace

Tactic cuda_skip_layer_norm_rows() {
  return {.name = "skip_layer_norm_rows",
          .ops = {"SkipLayerNorm"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"SkipLayerNorm f16[16] f16[16] f16[9,16] i64[2048,32](-9,8) f16[1,32,16] _",  // rows that share a term
          }};
}

}  // namespace tenfold::backends
