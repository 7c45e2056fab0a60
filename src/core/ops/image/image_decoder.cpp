// ImageDecoder: a file of a picture as pixels [height, width, channels]. Of one that cannot be read it gives a picture without pixels, as
// the standard has it; a decoder that is not installed is refused.
#include <algorithm>

#include "images/decode.h"
#include "ir/fault.h"
#include "ir/op_def.h"

namespace tenfold::ir {
namespace {

constexpr std::int64_t kMaxSide = std::int64_t{1} << 26;   // of images/decode.h

bool is_gray(const Attributes& a) { return a.string("pixel_format") == "Grayscale"; }

void infer(InferCall& call) {
  const std::string& format = call.attributes().string("pixel_format");
  call.validate(format == "RGB" || format == "BGR" || format == "Grayscale", "pixel_format is '", format,
                "', RGB, BGR or Grayscale expected");
  call.check_shape(call.rank(0) == 1, "the file's bytes have rank ", call.rank(0), ", 1 expected");
  const Dim height = call.new_symbol("height", 0, kMaxSide), width = call.new_symbol("width", 0, kMaxSide);
  call.out(0, DType::u8, {height, width, is_gray(call.attributes()) ? 1 : 3});
}

images::Pixels pixels_of(std::string_view file, const Attributes& a) {
  try {
    images::Pixels pixels = images::decode(file);
    if (is_gray(a)) return images::luminance(pixels);
    if (a.string("pixel_format") == "BGR")
      for (std::size_t i = 0; i < pixels.values.size(); i += 3) std::swap(pixels.values[i], pixels.values[i + 2]);
    return pixels;
  } catch (const images::BrokenImage&) {
    return {0, 0, is_gray(a) ? 1 : 3, {}};
  }
}

void on_values(ValueCall& call) {
  const Tensor& file = call.tensor(0);
  const images::Pixels pixels =
      pixels_of({reinterpret_cast<const char*>(file.data<std::uint8_t>()), static_cast<std::size_t>(file.size())}, call.attributes());
  Tensor y(DType::u8, {pixels.height, pixels.width, pixels.channels});
  std::copy(pixels.values.begin(), pixels.values.end(), y.mutable_data<std::uint8_t>());
  call.give(0, std::move(y));
}

}  // namespace

OpDef op_image_decoder() {
  return {.name = "ImageDecoder",
          .types = "u8 -> u8",
          .attributes = {{"pixel_format", "RGB"}},
          .infer = infer,
          .onnx_since = 20,
          .on_host = "decoders of pictures are the system's, on CPUs",
          .on_values = on_values};
}

}  // namespace tenfold::ir
