#include "quant/moments.h"

#include <algorithm>
#include <cmath>

#include "base/threads/spread.h"

namespace tenfold::quant {
namespace {

constexpr std::int64_t kMostRows = 64;   // of one sample

}  // namespace

Moments::Moments(const ir::Node& product, const ProductWeights& weights) : w(weights) {
  if (product.op() == "Conv") {
    const Shape& shape = product.in(1)->constant->tensor.shape();
    if (shape.size() != 4 || product.attributes.string("auto_pad", "NOTSET") != "NOTSET") {
      known_ = false;
      return;
    }
    const auto strides = product.attributes.ints("strides", {1, 1}), dilations = product.attributes.ints("dilations", {1, 1}),
               pads = product.attributes.ints("pads", {0, 0, 0, 0});
    for (std::size_t d = 0; d < 2; ++d)
      window_.size[d] = shape[d + 2], window_.stride[d] = strides.empty() ? 1 : strides[d],
      window_.dilation[d] = dilations.empty() ? 1 : dilations[d], window_.begin[d] = pads.empty() ? 0 : pads[d],
      window_.end[d] = pads.empty() ? 0 : pads[d + 2];
  }
  sums.assign(static_cast<std::size_t>(w.groups * w.terms() * w.terms()), 0);
}

void Moments::add(const Tensor& data, const std::vector<float>& factors) {
  if (data.size() == 0) return;
  const float* x = data.data<float>();
  const std::int64_t length = w.in * w.taps;
  std::vector<float> rows;
  std::int64_t count = 0;
  const auto factor = [&](std::int64_t c) { return factors.empty() ? 1.0F : factors[static_cast<std::size_t>(c)]; };
  if (w.channels_last) {
    const std::int64_t all = data.size() / w.in, every = (all + kMostRows - 1) / kMostRows;
    for (std::int64_t r = 0; r < all; r += every, ++count)
      for (std::int64_t c = 0; c < w.in; ++c) rows.push_back(x[r * w.in + c] * factor(c));
    return add_rows(rows, count);
  }
  const std::int64_t height = data.shape()[2], width = data.shape()[3];
  std::int64_t places[2];
  for (int d : {0, 1})
    places[d] = ((d ? width : height) + window_.begin[d] + window_.end[d] - (window_.size[d] - 1) * window_.dilation[d] - 1) /
                    window_.stride[d] + 1;
  if (places[0] < 1 || places[1] < 1) return;
  const std::int64_t all = data.shape()[0] * places[0] * places[1], every = (all + kMostRows - 1) / kMostRows;
  rows.assign(static_cast<std::size_t>((all + every - 1) / every * length), 0);
  for (std::int64_t p = 0; p < all; p += every, ++count) {
    const float* image = x + p / (places[0] * places[1]) * w.in * height * width;
    const std::int64_t top = p / places[1] % places[0] * window_.stride[0] - window_.begin[0],
                       left = p % places[1] * window_.stride[1] - window_.begin[1];
    float* to = rows.data() + count * length;
    for (std::int64_t c = 0; c < w.in; ++c)
      for (std::int64_t i = 0; i < window_.size[0]; ++i)
        for (std::int64_t j = 0; j < window_.size[1]; ++j, ++to) {
          const std::int64_t h = top + i * window_.dilation[0], v = left + j * window_.dilation[1];
          if (h >= 0 && h < height && v >= 0 && v < width) *to = image[(c * height + h) * width + v] * factor(c);
        }
  }
  add_rows(rows, count);
}

// The upper triangle; four rows at a time, for the matrix is larger than caches.
void Moments::add_rows(const std::vector<float>& rows, std::int64_t count) {
  const std::int64_t n = w.terms(), length = w.in * w.taps;
  const std::int64_t touched = static_cast<std::int64_t>(sums.size()) * 4 * (count / 4 + 1);
  spread_stretches(w.groups * n, 8, touched, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = 0; r < count; r += 4)
      for (std::int64_t at = begin; at < end; ++at) {
        const std::int64_t group = at / n, i = at % n;
        const float* x[4];
        float a[4];
        for (std::int64_t k = 0; k < 4; ++k)
          x[k] = rows.data() + std::min(r + k, count - 1) * length + group * n, a[k] = r + k < count ? x[k][i] : 0;
        if (a[0] == 0 && a[1] == 0 && a[2] == 0 && a[3] == 0) continue;
        float* to = sums.data() + (group * n + i) * n;
        for (std::int64_t j = i; j < n; ++j) to[j] += a[0] * x[0][j] + a[1] * x[1][j] + a[2] * x[2][j] + a[3] * x[3][j];
      }
  });
}

void round_by_moments(const float* moments, std::int64_t terms, const float* weights, float scale, std::int8_t* bytes, std::int64_t step) {
  const auto n = static_cast<std::size_t>(terms);
  std::vector<float> error(n), pull(n, 0);   // of each weight; the moments times all errors
  for (std::size_t i = 0; i < n; ++i)
    error[i] = static_cast<float>(bytes[static_cast<std::int64_t>(i) * step]) * scale - weights[static_cast<std::int64_t>(i) * step];
  const auto add = [&](std::size_t i, float by) {
    const float* row = moments + i * n;
    for (std::size_t j = 0; j < n; ++j) pull[j] += by * row[j];
  };
  for (std::size_t i = 0; i < n; ++i) add(i, error[i]);
  constexpr int kSweeps = 3;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool any = false;
    for (std::size_t i = 0; i < n; ++i) {
      const float change = error[i] > 0 ? -scale : scale;
      std::int8_t& byte = bytes[static_cast<std::int64_t>(i) * step];
      const int other = byte + (change > 0 ? 1 : -1);
      if (other < -127 || other > 127 || std::fabs(error[i]) > scale) continue;   // clipped ones stay
      if (!(change * change * moments[i * n + i] + 2 * change * pull[i] < 0)) continue;
      byte = static_cast<std::int8_t>(other), error[i] += change, any = true;
      add(i, change);
    }
    if (!any) return;
  }
}

}  // namespace tenfold::quant
