#include "quant/product_rows.h"

namespace tenfold::quant {
namespace {

constexpr std::int64_t kMaxRows = 64;   // of one sample

float factor(const std::vector<float>& factors, std::int64_t c) { return factors.empty() ? 1 : factors[static_cast<std::size_t>(c)]; }

}  // namespace

ProductRows::ProductRows(const ir::Node& product, const ProductWeights& w) : w_(w) {
  if (product.op() != "Conv") return;
  const Shape& shape = product.in(1)->constant->tensor.shape();
  known_ = shape.size() == 4 && product.attributes.string("auto_pad", "NOTSET") == "NOTSET";
  if (!known_) return;
  const auto strides = product.attributes.ints("strides", {1, 1}), dilations = product.attributes.ints("dilations", {1, 1}),
             pads = product.attributes.ints("pads", {0, 0, 0, 0});
  for (std::size_t d = 0; d < 2; ++d)
    window_.size[d] = shape[d + 2], window_.stride[d] = strides.empty() ? 1 : strides[d],
    window_.dilation[d] = dilations.empty() ? 1 : dilations[d], window_.begin[d] = pads.empty() ? 0 : pads[d],
    window_.end[d] = pads.empty() ? 0 : pads[d + 2];
}

std::vector<float> ProductRows::of_channels_last(const Tensor& data, const std::vector<float>& factors) const {
  const float* const x = data.data<float>();
  const std::int64_t all = data.size() / w_.in, every = (all + kMaxRows - 1) / kMaxRows;
  std::vector<float> rows;
  for (std::int64_t r = 0; r < all; r += every)
    for (std::int64_t c = 0; c < w_.in; ++c) rows.push_back(x[r * w_.in + c] * factor(factors, c));
  return rows;
}

std::vector<float> ProductRows::of(const Tensor& data, const std::vector<float>& factors) const {
  if (data.size() == 0) return {};
  if (w_.channels_last) return of_channels_last(data, factors);
  const float* const x = data.data<float>();
  const std::int64_t height = data.shape()[2], width = data.shape()[3], length = w_.in * w_.taps;
  std::int64_t places[2];
  for (int d : {0, 1})
    places[d] = ((d ? width : height) + window_.begin[d] + window_.end[d] - (window_.size[d] - 1) * window_.dilation[d] - 1) /
                    window_.stride[d] + 1;
  if (places[0] < 1 || places[1] < 1) return {};
  const std::int64_t all = data.shape()[0] * places[0] * places[1], every = (all + kMaxRows - 1) / kMaxRows;
  std::vector<float> rows(static_cast<std::size_t>((all + every - 1) / every * length));
  float* to = rows.data();
  for (std::int64_t p = 0; p < all; p += every) {
    const float* image = x + p / (places[0] * places[1]) * w_.in * height * width;
    const std::int64_t top = p / places[1] % places[0] * window_.stride[0] - window_.begin[0],
                       left = p % places[1] * window_.stride[1] - window_.begin[1];
    for (std::int64_t c = 0; c < w_.in; ++c)
      for (std::int64_t i = 0; i < window_.size[0]; ++i)
        for (std::int64_t j = 0; j < window_.size[1]; ++j, ++to) {
          const std::int64_t h = top + i * window_.dilation[0], v = left + j * window_.dilation[1];
          if (h >= 0 && h < height && v >= 0 && v < width) *to = image[(c * height + h) * width + v] * factor(factors, c);
        }
  }
  return rows;
}

}  // namespace tenfold::quant
