// PNG by libpng's simplified interface, declared here as its documentation has it: it is the same in all versions 1.6.
#include <algorithm>
#include <cstring>
#include <memory>

#include "images/decode.h"
#include "images/system_library.h"

namespace tenfold::images {
namespace {

struct Image {   // png_image
  void* opaque = nullptr;
  std::uint32_t version = 1, width = 0, height = 0, format = 0, flags = 0, colormap_entries = 0, warning_or_error = 0;
  char message[64] = {};
};
constexpr std::uint32_t kRgba = 3;        // PNG_FORMAT_RGBA
constexpr std::uint32_t kAlpha = 1, kLinearRgb = 6;  // PNG_FORMAT_FLAG_ALPHA, PNG_FORMAT_LINEAR_RGB: 16 bits, without alpha
constexpr std::uint32_t kLinear = 4;                 // PNG_FORMAT_FLAG_LINEAR: the file has 16 bits
constexpr std::uint32_t kSixteenBitsAsEight = 4;   // PNG_IMAGE_FLAG_16BIT_sRGB: 16 bits are spread as 8 are, and not linear light

struct LibPng {
  int (*begin)(Image*, const void*, std::size_t);
  int (*finish)(Image*, const void* background, void* buffer, std::int32_t row_stride, void* colormap);
  void (*free)(Image*);

  LibPng() {
    const SystemLibrary library("libpng16.so.16", "libpng16-16", "reading PNG");
    library.find("png_image_begin_read_from_memory", begin), library.find("png_image_finish_read", finish);
    library.find("png_image_free", free);
  }
};

// The file without what says how bright its levels are meant to look, and which of them nobody sees: models are trained on levels as they
// stand. A file that is cut keeps its end as it is, for libpng to refuse.
std::string levels_alone(std::string_view bytes) {
  constexpr std::size_t kSignature = 8, kAround = 12;   // a part's length, name and checksum
  std::string kept(bytes.substr(0, kSignature));
  std::size_t at = kSignature;
  while (bytes.size() >= at + kAround) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(bytes[at + i]);
    if (bytes.size() - at - kAround < length) break;
    const std::string_view name = bytes.substr(at + 4, 4);
    const bool is_look = name == "gAMA" || name == "cHRM" || name == "sRGB" || name == "iCCP" || name == "cICP" || name == "tRNS";
    if (!is_look) kept += bytes.substr(at, length + kAround);
    at += length + kAround;
  }
  return kept += bytes.substr(std::min(at, bytes.size()));
}

}  // namespace

Pixels decode_png(std::string_view bytes, Depth depth) {
  static const LibPng png;
  const std::string file = levels_alone(bytes);
  Image image;
  const auto release = [](Image* i) { png.free(i); };
  const std::unique_ptr<Image, decltype(release)> released(&image, release);
  const auto finish = [&](void* to) {
    if (!png.finish(&image, nullptr, to, 0, nullptr)) throw BrokenImage(image.message);
  };
  if (!png.begin(&image, file.data(), file.size())) throw BrokenImage(image.message);
  Pixels pixels = room_for(image.width, image.height);
  // What libpng gives beside alpha in 16 bits is multiplied by it, which loses levels. Its own 8 bits are wrong where 16 are interlaced.
  if ((image.format & kLinear) && !(image.format & kAlpha)) {
    image.format = kLinearRgb;
    pixels.deep.resize(pixels.values.size());
    finish(pixels.deep.data());
    if (depth == Depth::as_in_file) return pixels.values.clear(), pixels;
    std::transform(pixels.deep.begin(), pixels.deep.end(), pixels.values.begin(),
                   [](std::uint16_t level) { return static_cast<std::uint8_t>((level + 128) / 257); });
    pixels.deep.clear();
    return pixels;
  }
  image.flags |= kSixteenBitsAsEight, image.format = kRgba;
  std::vector<std::uint8_t> rgba(pixels.values.size() / 3 * 4);
  finish(rgba.data());
  for (std::size_t i = 0; i < rgba.size() / 4; ++i) std::memcpy(&pixels.values[3 * i], &rgba[4 * i], 3);
  return pixels;
}

}  // namespace tenfold::images
