// onednn_conv: channels-last convolution with constant weights by oneDNN, images cut into parts along the first spatial axis.
#include <atomic>

#include "backends/cpu/onednn/library.h"
#include "backends/cpu/tactics/onednn_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

constexpr std::int64_t kMostParts = 16;

onednn::ConvProduct product_of(const Problem& p) {
  const ir::Dims &x = p.in[0].dims, &y = p.out[0].dims;
  onednn::ConvProduct product{.shape = ConvShape(p), .rank = static_cast<int>(x.size()) - 2};
  for (std::size_t i = 2; i < x.size(); ++i) {
    product.in[i + 3 - x.size()] = x[i].constant();
    product.out[i + 3 - x.size()] = y[i].constant();
  }
  return product;
}
std::int64_t rows_of(const Problem& p) { return p.out[0].dims[2].constant(); }
int own_bias(const Problem& p) { return conv_has_bias(p) ? 2 : -1; }
OnednnEnd end_of(const Problem& p) { return OnednnEnd(p, 1, own_bias(p)); }
std::vector<Formats> formats(const Problem& p) { return {conv_formats(p, kChannelsLast, kChannelsLast)}; }

std::shared_ptr<const onednn::Product> make(const Problem& p, std::int64_t parts, const OnednnEnd& end) {
  return onednn::Product::make(product_of(p), parts, end.has_bias(), end.clamp());
}
std::shared_ptr<const onednn::Product> make(const Problem& p, const Config& c) { return make(p, c[0], end_of(p)); }

Verdict supports(const Problem& p) {
  if (const Verdict there = onednn::usable(*p.device); !there) return there;
  if (const Verdict common = conv_supports(p); !common) return common;
  if (!ir::is_constant(p.in[0].dims) || !ir::is_constant(p.out[0].dims)) return Verdict::no("the extents are not constants");
  for (const OperandDesc* o : {&p.in[0], &p.out[0]}) {
    if (!o->dense || !unit_channels(*o)) return Verdict::no("an operand is not dense and channels-last");
    for (const ir::Dim d : o->dims)
      if (d.constant() < 1) return Verdict::no("an operand is empty");
  }
  if (const Verdict end = OnednnEnd::supports(p, 1, own_bias(p)); !end) return end;
  return Verdict::only_if(make(p, 1, end_of(p)) != nullptr, "oneDNN has no implementation of it");
}

std::vector<Config> configs(const Problem& p) { return onednn_configs(rows_of(p), 4); }
Verdict valid(const Problem& p, const Config& c) {
  if (const Verdict fits = onednn::stamp_fits(c, std::min(kMostParts, rows_of(p))); !fits) return fits;
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

std::int64_t image_elements(const Bound& b) {
  std::int64_t n = 1;
  for (int i = 1; i < b.rank; ++i) n *= b.dims[i];
  return n;
}

struct Kernel {
  OnednnEnd end;
  std::shared_ptr<const onednn::Product> product;
  std::int64_t filters = 0;
};
std::shared_ptr<const void> open(const Problem& p, const Config& c) {
  auto kernel = std::make_shared<Kernel>();
  kernel->end = end_of(p);
  kernel->product = make(p, c[0], kernel->end);
  kernel->filters = p.out[0].dims[1].constant();
  return kernel;
}

ir::Dim worker_scratch(const Problem& p, const Config& c) {
  const OnednnEnd end = end_of(p);
  return make(p, c[0], end)->scratch_bytes() + end.scratch_bytes();
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const onednn::Product& product = *kernel.product;
  const Bound &x = args.in[0], &y = args.out[0];
  const std::int64_t own_bytes = product.scratch_bytes();
  const std::int64_t x_image = image_elements(x), y_image = image_elements(y);
  const std::int64_t positions = y_image / kernel.filters, row = positions / y.dims[2];
  const auto parts = static_cast<std::int64_t>(product.parts().size());
  OnednnEnd::Binding bound;
  kernel.end.bind(args, TileAxes::channels_last(y.rank), bound);
  std::atomic<Status::Code> status{Status::ok};
  args.parallel->for_each(x.dims[0] * parts, [&](std::int64_t i, int worker) noexcept {
    const std::int64_t image = i / parts;
    const onednn::Part& part = product.parts()[static_cast<std::size_t>(i % parts)];
    char* scratch = args.scratch_of<char>(worker);
    float* to = y.as<float>() + image * y_image;
    const Status::Code code = product.run(static_cast<std::size_t>(i % parts), x.as<const float>() + image * x_image, args.in[1].data,
                                          bound.bias, to, scratch);
    if (code != Status::ok) status = code;
    kernel.end.apply(bound, image * positions + part.first * row, (part.last - part.first) * row, kernel.filters, to + part.y_offset,
                     scratch + own_bytes);
  });
  return status;
}

}  // namespace

Tactic cpu_onednn_conv() {
  return {.name = "onednn_conv",
          .op = "Conv",
          .source = Source::onednn,
          .supports = supports,
          .configs = configs,
          .valid = valid,
          .formats = formats,
          .worker_scratch = worker_scratch,
          .packed_bytes = packed_bytes,
          .pack = pack,
          .unpack = unpack,
          .open = open,
          .run = run,
          .work = conv_work};
}

}  // namespace tenfold::backends
