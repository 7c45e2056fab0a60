// Product of an 8-bit matrix with constant 8-bit weights, any signedness and zero points, exact in 32 bits.
#include "backends/cpu/tactics/int8/int8_common.h"
#include "backends/packed_tactic.h"
#include "base/check.h"
#include "base/checked.h"
#include "base/types/element.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

// Rows of a dense row-major matrix.
class MatrixRows final : public Int8Rows {
 public:
  MatrixRows(const void* data, std::int64_t rows, std::int64_t k, bool is_signed)
      : data_(static_cast<const char*>(data)), rows_(rows), k_(k), signed_(is_signed) {}
  void fill(const Int8Kernels& kernels, std::int64_t, std::int64_t row, std::int64_t rows, std::int64_t k, std::int64_t count, char* to,
            std::int64_t stride) const noexcept override {
    for (std::int64_t r = 0; r < rows; ++r) kernels.expand(data_ + (row + r) * k_ + k, count, signed_, to + r * stride);
  }
  const char* direct(std::int64_t, std::int64_t row, std::int64_t& stride) const noexcept override {
    stride = k_;
    return data_ + row * k_;
  }
  const char* end() const noexcept override { return data_ + rows_ * k_; }

 private:
  const char* data_;
  std::int64_t rows_, k_;
  bool signed_;
};

Int8Weights weights_of(const Problem& p) { return {.k = p.in[1].dims[0].constant(), .n = p.in[1].dims[1].constant(), .groups = 1}; }
std::int64_t likely_rows(const Problem& p) {
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < p.in[0].dims.size(); ++i)
    rows = checked_mul(rows, std::min(p.bounds(p.in[0].dims[i]).upper, std::int64_t{1} << 12));
  return rows;
}
bool is_8_bit(DType type) { return type == DType::u8 || type == DType::i8; }
bool given(const Problem& p, std::size_t i) { return i < static_cast<std::size_t>(p.anchor_inputs) && i < p.in.size() && !p.in[i].missing; }

Verdict supports(const Problem& p) {
  const OperandDesc &a = p.in[0], &b = p.in[1];
  if (!is_8_bit(a.dtype) || !is_8_bit(b.dtype)) return Verdict::no("operands are not 8-bit integers");
  if (!b.constant) return Verdict::no("the second operand is not constant");
  if (b.dims.size() != 2 || !ir::is_constant(b.dims)) return Verdict::no("the weights are not one matrix");
  if (b.dims[0] == ir::Dim(0) || b.dims[1] == ir::Dim(0)) return Verdict::no("the weights are empty");
  if (a.dims.size() < 2) return Verdict::no("the first operand is a vector");
  if (!a.dense || !p.out[0].dense) return Verdict::no("operands are strided");
  if (given(p, 2) && !(ir::product(p.in[2].dims) == ir::Dim(1))) return Verdict::no("the zero point differs between rows");
  if (given(p, 3)) {
    if (!p.in[3].constant) return Verdict::no("the zero points of the weights are not constant");
    if (p.in[3].dims.size() > 1) return Verdict::no("the zero points of the weights have more than one dim");
  }
  if (int8_configs(*p.device, 1, 1).empty()) return Verdict::no("needs avx2");
  return Int8Epilogue::supports(p);
}

std::vector<Config> configs(const Problem& p) { return int8_configs(*p.device, likely_rows(p), weights_of(p).n); }
Verdict valid(const Problem& p, const Config& c) { return int8_valid(*p.device, c); }

std::int64_t packed_bytes(const Problem& p, const Config& c, int input) {
  return input == 1 ? Int8Packing(weights_of(p), int8_kernels(c[0])).bytes() : -1;
}

void pack(const Problem& p, const Config& c, int, std::span<const Tensor* const> constants, void* packed) {
  const Int8Weights w = weights_of(p);
  std::vector<std::int32_t> zeros(static_cast<std::size_t>(w.n));
  if (given(p, 3)) {
    const Tensor& z = *constants[3];
    for (std::int64_t j = 0; j < w.n; ++j) zeros[static_cast<std::size_t>(j)] = static_cast<std::int32_t>(z.as_int(z.size() == 1 ? 0 : j));
  }
  Int8Packing(w, int8_kernels(c[0])).pack(int8_values(*constants[1]), zeros, packed);
}

Tensor unpack(const Problem& p, const Config& c, int, const void* packed) {
  const Int8Weights w = weights_of(p);
  Tensor b(p.in[1].dtype, {w.k, w.n});
  const std::vector<std::int16_t> values = Int8Packing(w, int8_kernels(c[0])).unpack(packed);
  for (std::size_t i = 0; i < values.size(); ++i) store_int(b.dtype(), b.mutable_raw(), static_cast<std::int64_t>(i), values[i]);
  return b;
}

struct Kernel {
  Int8Gemm product;
  DType a_type;
  bool has_zero;
};

Int8Gemm product(const Problem& p, const Config& c) {
  return Int8Gemm(p, c, weights_of(p), p.in[0].dtype == DType::i8, static_cast<int>(p.out[0].dims.size()) - 1);
}

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  auto kernel = std::make_shared<Kernel>();
  kernel->a_type = p.in[0].dtype;
  kernel->has_zero = given(p, 2);
  kernel->product = product(p, c);
  return kernel;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const Bound& a = args.in[0];
  std::int64_t rows = 1;
  for (int i = 0; i + 1 < a.rank; ++i) rows *= a.dims[i];
  const MatrixRows source(a.data, rows, kernel.product.weights.k, kernel.product.a_signed);
  const std::int32_t zero = kernel.has_zero ? int8_zero_point(args, 2, kernel.a_type) : 0;
  kernel.product.run(source, rows, zero, args, TileAxes::last(args.out[0].rank));
  return Status::ok;
}

ir::Dim worker_scratch(const Problem& p, const Config& c) { return product(p, c).scratch_bytes(); }
ir::Dim workspace(const Problem& p, const Config& c) { return product(p, c).workspace_bytes(); }
double work(const Problem& p) { return 2.0 * static_cast<double>(likely_rows(p)) * static_cast<double>(weights_of(p).k * weights_of(p).n); }
bool may_alias(const Problem& p, int in, int) {
  return Int8Epilogue(p, int8_epilogue_kernels(kInt8Avx2), static_cast<int>(p.out[0].dims.size()) - 1).in_place(in);
}

}  // namespace

Tactic cpu_matmul_int8() {
  return packed_tactic({.name = "matmul_int8", .version = 8, .ops = {"MatMulInteger"}, .workspace = workspace,
                        .worker_scratch = worker_scratch, .may_alias = may_alias},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, work});
}

}  // namespace tenfold::backends
