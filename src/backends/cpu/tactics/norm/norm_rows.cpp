// norm_rows: normalization of contiguous rows, with an optional epilogue over blocks of finished rows.
#include "backends/cpu/cpu_info.h"
#include "backends/cpu/kernels/norm/norm.h"
#include "backends/cpu/tactics/row_floats_common.h"
#include "backends/cpu/tactics/row_problem_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

using std::int64_t;

constexpr int64_t kRowsAtOnce = 8;  // finished rows that wait for the epilogue

int axis_of(const Problem& p) { return wrapped(p.attributes->integer("axis"), static_cast<int>(p.in[0].dims.size())); }
ir::Dim row_of(const Problem& p) {
  ir::Dim n = 1;
  for (std::size_t a = static_cast<std::size_t>(axis_of(p)); a < p.in[0].dims.size(); ++a) n = n * p.in[0].dims[a];
  return n;
}
bool is_full(const Problem& p, std::size_t i) {  // a scale or bias with an element for every one of a row
  const auto axis = static_cast<std::size_t>(axis_of(p));
  const ir::Dims tail(p.in[0].dims.begin() + static_cast<std::ptrdiff_t>(axis), p.in[0].dims.end());
  const ir::Dims& dims = p.in[i].dims;
  if (dims.size() < tail.size()) return false;
  for (std::size_t a = 0; a < dims.size(); ++a) {
    const ir::Dim expected = a + tail.size() < dims.size() ? ir::Dim(1) : tail[a + tail.size() - dims.size()];
    if (!(dims[a] == expected)) return false;
  }
  return true;
}

Verdict supports(const Problem& p) {
  if (Verdict v = needs_avx2(p); !v) return v;
  if (p.out.size() > 1) {
    for (std::size_t i = 1; i < p.out.size(); ++i)
      if (!p.out[i].missing) return Verdict::no("the mean and the deviation are asked for as outputs");
  }
  for (int i = 0; i < p.anchor_inputs; ++i)
    if (!p.in[static_cast<std::size_t>(i)].missing && !RowFloats::has(p.in[static_cast<std::size_t>(i)].dtype))
      return Verdict::no("an operand is neither f32 nor bf16");
  if (Verdict v = dense_plain(p); !v) return v;
  for (std::size_t i = 1; i < static_cast<std::size_t>(p.anchor_inputs); ++i)
    if (!p.in[i].missing && !is_full(p, i)) return Verdict::no("the scale or bias is broadcast along the row");
  if (!p.body) return Verdict::only_if(RowFloats::has(p.out[0].dtype), "the output is neither f32 nor bf16");
  return Epilogue::supports(p);
}

struct Kernel {
  const NormKernels* kernels;
  const NormBf16Kernels* direct = nullptr;  // from bf16 to bf16 at once
  Epilogue epilogue;
  RowFloats x, scale, bias, out;
  bool has_epilogue = false, is_rms = false, is_biased = false;
  int axis = 0;
  float epsilon = 0;
};

bool is_biased(const Problem& p) { return p.op->name != "RMSNormalization" && p.anchor_inputs > 2 && !p.in[2].missing; }

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  auto kernel = std::make_shared<Kernel>();
  kernel->kernels = &pick(p, tenfold_norm_avx2, tenfold_norm_avx512);
  kernel->is_rms = p.op->name == "RMSNormalization";
  kernel->axis = axis_of(p);
  kernel->epsilon = p.attributes->number("epsilon");
  kernel->is_biased = is_biased(p);
  kernel->x = RowFloats(p, p.in[0].dtype);
  kernel->scale = RowFloats(p, p.in[1].dtype);
  if (kernel->is_biased) kernel->bias = RowFloats(p, p.in[2].dtype);
  kernel->out = RowFloats(p, p.out[0].dtype);
  kernel->has_epilogue = p.body != nullptr;
  if (p.body) kernel->epilogue = Epilogue(p, DType::f32);
  const bool narrow = kernel->x.narrow() && kernel->out.narrow();
  if (narrow && has_bf16(p.device->features) && !p.body && !kernel->is_rms) kernel->direct = &tenfold_norm_bf16_avx512bf16;
  return kernel;
}

// Scratch of the epilogue; rows that wait for it, or to be rounded; scale and bias as f32.
ir::Dim worker_scratch(const Problem& p, const Config&) {
  const bool narrow =
      std::any_of(p.in.begin(), p.in.begin() + p.anchor_inputs, [](const OperandDesc& d) { return d.dtype == DType::bf16; });
  if (!p.body && !narrow && p.out[0].dtype == DType::f32) return 0;
  return row_of(p) * ir::Dim((kRowsAtOnce + 2) * 4) + ir::Dim(p.body ? Epilogue(p, DType::f32).scratch_bytes() : 0);
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &out = args.out[0];
  const int64_t rows = product(x.dims, 0, kernel.axis), n = product(x.dims, kernel.axis, x.rank);
  Epilogue::Binding binding;
  if (kernel.has_epilogue) {
    TileAxes axes;
    for (int a = 0; a < x.rank; ++a)
      (a < kernel.axis ? axes.rows[axes.row_count++] : axes.cols[axes.col_count++]) = static_cast<std::int8_t>(a);
    kernel.epilogue.bind(args, axes, binding);
  }
  for_row_parts(*args.parallel, rows, rows_per_part(n), [&](int64_t first, int64_t last, int worker) {
    char* const scratch = args.scratch_of<char>(worker);
    float* const block = reinterpret_cast<float*>(scratch + (kernel.has_epilogue ? kernel.epilogue.scratch_bytes() : 0));
    const auto row_of_block = [&](int64_t row) { return block ? block + row * n : nullptr; };   // none where f32 is read in place
    const float* const scale = kernel.scale.read(args.in[1].data, 0, n, row_of_block(kRowsAtOnce));
    const float* const bias = kernel.is_biased ? kernel.bias.read(args.in[2].data, 0, n, row_of_block(kRowsAtOnce + 1)) : nullptr;
    if (kernel.direct) {
      const auto *from = x.as<const std::uint16_t>();
      for (int64_t r = first; r < last; ++r)
        kernel.direct->layer_norm(from + r * n, out.as<std::uint16_t>() + r * n, scale, bias, n, kernel.epsilon);
      return;
    }
    for (int64_t r = first; r < last; r += kRowsAtOnce) {
      const int64_t count = std::min(kRowsAtOnce, last - r);
      float* const to = kernel.has_epilogue ? block : kernel.out.place(out.data, r * n, block);
      for (int64_t i = 0; i < count; ++i) {
        const float* const from = kernel.x.read(x.data, (r + i) * n, n, row_of_block(i));
        if (kernel.is_rms)
          kernel.kernels->rms_norm(from, to + i * n, scale, n, kernel.epsilon);
        else
          kernel.kernels->layer_norm(from, to + i * n, scale, bias, n, kernel.epsilon);
      }
      if (kernel.has_epilogue)
        kernel.epilogue.apply(binding, r, count, 0, n, block, n, scratch);
      else
        kernel.out.done(out.data, r * n, count * n, block);
    }
  });
  return Status::ok;
}

bool may_alias(const Problem& p, int in, int out) {
  return in == 0 && out == 0 && p.in[0].dims == p.out[0].dims && p.in[0].dtype == p.out[0].dtype && p.in[0].dense && p.out[0].dense;
}
double work(const Problem& p) { return 8.0 * static_cast<double>(p.bounds(ir::product(p.in[0].dims)).upper); }

}  // namespace

Tactic cpu_norm_rows() {
  return {.name = "norm_rows",
          .ops = {{"LayerNormalization", "layer_norm_rows"}, {"RMSNormalization", "rms_norm_rows"}},
          .supports = supports,
          .configs = one_config,
          .worker_scratch = worker_scratch,
          .open = open,
          .run = run,
          .may_alias = may_alias,
          .work = work,
          .cases = {"LayerNormalization f32[3,130,384] f32[384] f32[384]",
                    "LayerNormalization f32[7,1003] f32[1003] f32[1003]",
                    "RMSNormalization f32[7,1003] f32[1003]"}};
}

}  // namespace tenfold::backends
