// onednn_matmul: activations times a constant matrix by oneDNN, rows cut into parts.
#include <atomic>

#include "backends/cpu/onednn/library.h"
#include "backends/cpu/tactics/onednn_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

constexpr std::int64_t kMostParts = 16;

onednn::MatrixProduct product_of(const Problem& p) {
  onednn::MatrixProduct product{1, p.in[1].dims[0].constant(), p.in[1].dims[1].constant()};
  for (std::size_t i = 0; i + 1 < p.in[0].dims.size(); ++i) product.m *= p.in[0].dims[i].constant();
  return product;
}
int channel_axis(const Problem& p) { return static_cast<int>(p.out[0].dims.size()) - 1; }

std::shared_ptr<const onednn::Product> make(const Problem& p, std::int64_t parts, const OnednnEnd& end) {
  return onednn::Product::make(product_of(p), parts, end.has_bias(), end.clamp());
}
std::shared_ptr<const onednn::Product> make(const Problem& p, const Config& c) { return make(p, c[0], OnednnEnd(p, channel_axis(p))); }

Verdict supports(const Problem& p) {
  const OperandDesc &a = p.in[0], &b = p.in[1], &y = p.out[0];
  if (const Verdict there = onednn::usable(*p.device); !there) return there;
  if (a.dtype != DType::f32 || b.dtype != DType::f32) return Verdict::no("operands are not f32");
  if (!b.constant || b.dims.size() != 2) return Verdict::no("the right operand is not one constant matrix");
  if (!ir::is_constant(a.dims) || a.dims.empty()) return Verdict::no("the extents are not constants");
  if (!a.dense || !y.dense) return Verdict::no("an operand is a strided view");
  if (a.dims.size() != y.dims.size() || !std::equal(a.dims.begin(), a.dims.end() - 1, y.dims.begin()) || y.dims.back() != b.dims[1])
    return Verdict::no("the epilogue changes the result's extents");
  const onednn::MatrixProduct product = product_of(p);
  if (product.m < 1 || product.k < 1 || product.n < 1) return Verdict::no("an operand is empty");
  if (const Verdict end = OnednnEnd::supports(p, channel_axis(p)); !end) return end;
  return Verdict::only_if(make(p, 1, OnednnEnd(p, channel_axis(p))) != nullptr, "oneDNN has no implementation of it");
}

std::vector<Config> configs(const Problem& p) { return onednn_configs(product_of(p).m, 8); }
Verdict valid(const Problem& p, const Config& c) {
  if (const Verdict fits = onednn::stamp_fits(c, std::min(kMostParts, product_of(p).m)); !fits) return fits;
  return Verdict::only_if(make(p, c) != nullptr, "oneDNN has no implementation of it");
}

std::int64_t packed_bytes(const Problem& p, const Config& c, int input) { return input == 1 ? make(p, c)->weight_bytes() : -1; }
void pack(const Problem& p, const Config& c, int, std::span<const Tensor* const> constants, void* packed) {
  make(p, c)->pack(constants[1]->data<float>(), packed);
}
Tensor unpack(const Problem& p, const Config& c, int, const void* packed) {
  Tensor weight(DType::f32, ir::constants(p.in[1].dims));
  make(p, c)->unpack(packed, weight.mutable_data<float>());
  return weight;
}

struct Kernel {
  OnednnEnd end;
  std::shared_ptr<const onednn::Product> product;
  std::int64_t n = 0;
};
std::shared_ptr<const void> open(const Problem& p, const Config& c) {
  auto kernel = std::make_shared<Kernel>();
  kernel->end = OnednnEnd(p, channel_axis(p));
  kernel->product = make(p, c[0], kernel->end);
  kernel->n = product_of(p).n;
  return kernel;
}

ir::Dim worker_scratch(const Problem& p, const Config& c) {
  const OnednnEnd end(p, channel_axis(p));
  return make(p, c[0], end)->scratch_bytes() + end.scratch_bytes();
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const onednn::Product& product = *kernel.product;
  const std::int64_t own_bytes = product.scratch_bytes();
  OnednnEnd::Binding bound;
  kernel.end.bind(args, TileAxes::last(args.out[0].rank), bound);
  std::atomic<Status::Code> status{Status::ok};
  args.parallel->for_each(static_cast<std::int64_t>(product.parts().size()), [&](std::int64_t i, int worker) noexcept {
    const onednn::Part& part = product.parts()[static_cast<std::size_t>(i)];
    char* scratch = args.scratch_of<char>(worker);
    auto* y = args.out[0].as<float>();
    const Status::Code code =
        product.run(static_cast<std::size_t>(i), args.in[0].as<const float>(), args.in[1].data, bound.bias, y, scratch);
    if (code != Status::ok) status = code;
    kernel.end.apply(bound, part.first, part.last - part.first, kernel.n, y + part.y_offset, scratch + own_bytes);
  });
  return status;
}

double work(const Problem& p) {
  const onednn::MatrixProduct product = product_of(p);
  return 2.0 * static_cast<double>(product.m) * static_cast<double>(product.k) * static_cast<double>(product.n);
}

}  // namespace

Tactic cpu_onednn_matmul() {
  return {.name = "onednn_matmul",
          .op = "MatMul",
          .source = Source::onednn,
          .supports = supports,
          .configs = configs,
          .valid = valid,
          .worker_scratch = worker_scratch,
          .packed_bytes = packed_bytes,
          .pack = pack,
          .unpack = unpack,
          .open = open,
          .run = run,
          .work = work};
}

}  // namespace tenfold::backends
