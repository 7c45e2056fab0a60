// An image through windows that overlap, by an installed imaging library.
#include <tenfold/error.h>
#include <tenfold/sliding_window.h>

#include <cmath>
#include <cstdio>

int main() {
  tenfold::Tensor image(tenfold::DType::f32, {1, 1, 9, 7});
  for (int i = 0; i < 63; ++i) image.mutable_data<float>()[i] = static_cast<float>(i);
  const tenfold::SlidingWindow windows({9, 7}, {.roi = {4}, .mode = tenfold::WindowMode::gaussian});
  const auto negate = [](const tenfold::Tensor& in, std::int64_t) {
    tenfold::Tensor out = in.clone();
    for (std::int64_t i = 0; i < out.size(); ++i) out.mutable_data<float>()[i] *= -1;
    return std::vector<tenfold::Tensor>{out};
  };
  const tenfold::Tensor result = tenfold::infer(windows, image, negate)[0];
  bool right = true;
  for (int i = 0; i < 63; ++i) right = right && std::fabs(result.data<float>()[i] + static_cast<float>(i)) < 1e-4f;
  try {
    tenfold::SlidingWindow({9, 7}, {.roi = {4}, .overlap = {1}});
  } catch (const tenfold::Error& e) {
    std::puts(right && e.kind() == tenfold::ErrorKind::invalid_argument ? "right" : "wrong");
  }
}
