// onednn_conv: channels-last convolution with constant weights by oneDNN, images cut into parts along the first spatial axis.
#include "backends/cpu/onednn/library.h"
#include "backends/cpu/tactics/onednn/onednn_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

std::shared_ptr<const onednn::Product> make(const Problem& p, std::int64_t parts, const OnednnEpilogue& epilogue) {
  const ir::Dims &x = p.in[0].dims, &y = p.out[0].dims;
  onednn::ConvGemm product{.shape = ConvShape(p), .rank = static_cast<int>(x.size()) - 2};
  for (std::size_t i = 2; i < x.size(); ++i) {
    product.in[i + 3 - x.size()] = x[i].constant();
    product.out[i + 3 - x.size()] = y[i].constant();
  }
  return onednn::Product::make(product, parts, epilogue.has_bias(), epilogue.clamp());
}

OnednnForm form_of(const Problem& p) {
  const ir::Dims &x = p.in[0].dims, &y = p.out[0].dims;
  OnednnForm form{.make = make, .own_bias = conv_has_bias(p) ? 2 : -1, .min_rows = 4, .channels_last = true};
  form.images = x[0].constant(), form.rows = y[2].constant(), form.columns = y[1].constant();
  form.x_image = form.y_image = 1;
  for (std::size_t i = 1; i < x.size(); ++i) form.x_image *= x[i].constant(), form.y_image *= y[i].constant();
  form.row_positions = form.y_image / form.columns / form.rows;
  return form;
}
std::vector<Formats> formats(const Problem& p) { return {conv_formats(p, kChannelsLast, kChannelsLast)}; }

Verdict supports(const Problem& p) {
  if (const Verdict there = onednn::usable(*p.device); !there) return there;
  if (const Verdict common = conv_supports(p); !common) return common;
  if (!ir::is_constant(p.in[0].dims) || !ir::is_constant(p.out[0].dims)) return Verdict::no("the extents are not constants");
  for (const OperandDesc* o : {&p.in[0], &p.out[0]}) {
    if (!o->dense || !unit_channels(*o)) return Verdict::no("an operand is not dense and channels-last");
    for (const ir::Dim& d : o->dims)
      if (d.constant() < 1) return Verdict::no("an operand is empty");
  }
  return onednn_supports(p, form_of(p));
}

}  // namespace

Tactic cpu_onednn_conv() {
  Tactic t{.name = "onednn_conv", .ops = {"Conv"}, .supports = supports, .formats = formats, .work = conv_work};
  fill_onednn<form_of>(t);
  return t;
}

}  // namespace tenfold::backends
