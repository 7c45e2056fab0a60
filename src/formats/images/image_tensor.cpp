// The values of levels, and the order of elements.
#include "formats/images/image_tensor.h"

#include <bit>
#include <cmath>
#include <limits>

#include "formats/arrays/half_bits.h"

namespace tenfold::formats {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::invalid_argument, why); }

struct Limits { double min, max; };
Limits limits_of(const ImageForm& form) {
  const auto of = [](auto number) {
    using T = decltype(number);
    return Limits{static_cast<double>(std::numeric_limits<T>::lowest()), static_cast<double>(std::numeric_limits<T>::max())};
  };
  switch (form.type) {
    case DType::f32:
    case DType::f64:
    case DType::bf16: return of(float{});
    case DType::f16: return {-65504, 65504};
    case DType::u8: return of(std::uint8_t{});
    case DType::i8: return of(std::int8_t{});
    case DType::u16: return of(std::uint16_t{});
    case DType::i16: return of(std::int16_t{});
    case DType::i32: return of(std::int32_t{});
    case DType::i64: return of(std::int32_t{});   // more no level needs
    default:
      refuse(form.names.data + ": the input '" + form.input + "' is " + std::string(name(form.type)) +
                       ", which photographs are not given as");
  }
}

std::uint64_t element_bits(DType type, float value) {
  switch (type) {
    case DType::f32: return std::bit_cast<std::uint32_t>(value);
    case DType::f64: return std::bit_cast<std::uint64_t>(static_cast<double>(value));
    case DType::f16: return f16_bits(value);
    case DType::bf16: return bf16_bits(value);
    default: return static_cast<std::uint64_t>(static_cast<std::int64_t>(std::nearbyint(value)));   // little-endian: its lowest bytes
  }
}

using Bits = std::vector<std::vector<std::uint64_t>>;

// `bits` by channel of the model; of pixels that is another one if the model wants blue first.
template <class T, class Level>
void fill_one(T* to, const std::vector<Level>& levels, const ImageForm& form, const Bits& bits) {
  const std::size_t channels = bits.size(), pixels = levels.size() / channels;
  const bool planes = form.layout == ImageLayout::nchw;
  for (std::size_t c = 0; c < channels; ++c) {
    const Level* from = levels.data() + (form.bgr ? channels - 1 - c : c);
    for (std::size_t i = 0; i < pixels; ++i) to[planes ? c * pixels + i : i * channels + c] = static_cast<T>(bits[c][from[i * channels]]);
  }
}

template <class T>
void fill(Tensor& tensor, std::span<const Pixels* const> images, const ImageForm& form, const Bits& bits, const Bits& deep_bits) {
  T* to = static_cast<T*>(tensor.mutable_raw());
  for (const Pixels* image : images) {
    image->is_deep() ? fill_one(to, image->deep, form, deep_bits) : fill_one(to, image->values, form, bits);
    to += image->values.size() + image->deep.size();
  }
}

}  // namespace

ImageElements::ImageElements(const ImageForm& form) : form_(form), bits_(table(256)) {
  if (form.depth() == Depth::as_in_file) deep_bits_ = table(65536);
}

ImageElements::Table ImageElements::table(std::size_t levels) const {
  const ImageForm& form = form_;
  const Limits limits = limits_of(form);
  const float between = levels > 256 ? 257 : 1;  // steps from one level of 8 bits to the next
  Table table;
  for (std::size_t c = 0; c < form.mean.size(); ++c) {
    std::vector<std::uint64_t>& bits = table.emplace_back(levels);
    for (std::size_t level = 0; level < levels; ++level) {
      const float value = (static_cast<float>(level) / between / form.scale - form.mean[c]) / form.deviation[c];
      if (!(value >= limits.min && value <= limits.max))
        refuse(form.names.image + ": with " + form.text() + " level " + std::to_string(level) + " becomes " + std::to_string(value) +
                         ", which " + std::string(name(form.type)) + ", the type of the input '" + form.input + "', cannot hold");
      bits[level] = element_bits(form.type, value);
    }
  }
  return table;
}

Tensor ImageElements::tensor(std::span<const Pixels* const> images) const {
  const std::int64_t channels = form_.channels(), height = form_.crop.height, width = form_.crop.width;
  Shape shape = form_.layout == ImageLayout::nchw ? Shape{channels, height, width} : Shape{height, width, channels};
  if (form_.batched) shape.insert(shape.begin(), static_cast<std::int64_t>(images.size()));
  Tensor tensor(form_.type, shape);
  switch (bits(form_.type)) {
    case 8: fill<std::uint8_t>(tensor, images, form_, bits_, deep_bits_); break;
    case 16: fill<std::uint16_t>(tensor, images, form_, bits_, deep_bits_); break;
    case 32: fill<std::uint32_t>(tensor, images, form_, bits_, deep_bits_); break;
    default: fill<std::uint64_t>(tensor, images, form_, bits_, deep_bits_);
  }
  return tensor;
}

}  // namespace tenfold::formats
