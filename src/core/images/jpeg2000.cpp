// JPEG 2000 by OpenJPEG 2, declared here as its documentation has it.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "images/decode.h"
#include "images/system_library.h"

namespace tenfold::images {
namespace {

struct Component {   // opj_image_comp_t
  std::uint32_t dx, dy, width, height, x0, y0, bits, obsolete, is_signed, resolutions, factor;
  std::int32_t* data;
  std::uint16_t alpha;
};
struct Image {   // opj_image_t
  std::uint32_t x0, y0, x1, y1, components;
  std::int32_t colors;
  Component* component;
  std::uint8_t* profile;
  std::uint32_t profile_size;
};
struct alignas(16) Parameters {   // opj_dparameters_t, which has two names of files, has 8,248 bytes
  char bytes[16384];
};
using Codec = void*;
using Stream = void*;
constexpr int kCodeStream = 0, kFile = 2;                     // OPJ_CODEC_J2K, OPJ_CODEC_JP2
constexpr std::int32_t kYcc = 3, kExtendedYcc = 4, kCmyk = 5;   // OPJ_CLRSPC_SYCC, OPJ_CLRSPC_EYCC, OPJ_CLRSPC_CMYK

struct OpenJpeg {
  Codec (*create)(int);
  void (*destroy)(Codec);
  void (*defaults)(Parameters*);
  int (*setup)(Codec, Parameters*);
  int (*on_error)(Codec, void (*)(const char*, void*), void*);
  int (*header)(Stream, Codec, Image**);
  int (*decode)(Codec, Stream, Image*);
  void (*free)(Image*);
  Stream (*stream)(std::size_t buffer, int reads);
  void (*close)(Stream);
  void (*on_read)(Stream, std::size_t (*)(void*, std::size_t, void*));
  void (*on_skip)(Stream, std::int64_t (*)(std::int64_t, void*));
  void (*on_seek)(Stream, int (*)(std::int64_t, void*));
  void (*user)(Stream, void*, void (*)(void*));
  void (*length)(Stream, std::uint64_t);

  OpenJpeg() {
    const SystemLibrary library("libopenjp2.so.7", "libopenjp2-7", "reading JPEG 2000");
    library.find("opj_create_decompress", create), library.find("opj_destroy_codec", destroy);
    library.find("opj_set_default_decoder_parameters", defaults), library.find("opj_setup_decoder", setup);
    library.find("opj_set_error_handler", on_error), library.find("opj_read_header", header), library.find("opj_decode", decode);
    library.find("opj_image_destroy", free), library.find("opj_stream_create", stream), library.find("opj_stream_destroy", close);
    library.find("opj_stream_set_read_function", on_read), library.find("opj_stream_set_skip_function", on_skip);
    library.find("opj_stream_set_seek_function", on_seek), library.find("opj_stream_set_user_data", user);
    library.find("opj_stream_set_user_data_length", length);
  }
};

struct Source {
  std::string_view bytes;
  std::size_t at = 0;
  std::string error = {};
};

std::size_t read_bytes(void* to, std::size_t size, void* user) {
  Source& source = *static_cast<Source*>(user);
  if (source.at >= source.bytes.size()) return static_cast<std::size_t>(-1);
  const std::size_t part = std::min(size, source.bytes.size() - source.at);
  std::memcpy(to, source.bytes.data() + source.at, part);
  source.at += part;
  return part;
}
// Behind the end it stands at the end.
int seek(std::int64_t to, void* user) {
  Source& source = *static_cast<Source*>(user);
  if (to < 0 || static_cast<std::uint64_t>(to) > source.bytes.size()) return 0;
  source.at = static_cast<std::size_t>(to);
  return 1;
}
std::int64_t skip(std::int64_t by, void* user) {
  Source& source = *static_cast<Source*>(user);
  if (by < 0 || static_cast<std::uint64_t>(by) > source.bytes.size() - source.at) return -1;
  source.at += static_cast<std::size_t>(by);
  return by;
}

void keep_error(const char* text, void* user) {
  std::string& error = static_cast<Source*>(user)->error;
  if (!error.empty()) return;
  error = text;
  while (!error.empty() && error.back() == '\n') error.pop_back();
}

// Before anything is decoded: a header of a few bytes may claim 16,384 components.
void expect_readable(const Image& image) {
  expect_size(std::int64_t{image.x1} - image.x0, std::int64_t{image.y1} - image.y0);
  if (image.components < 1 || image.components > 4)
    throw BrokenImage("it has " + std::to_string(image.components) + " components, 1 to 4 expected");
  if (image.colors == kCmyk || image.colors == kExtendedYcc)
    throw BrokenImage("it is in CMYK or e-YCC, and models take red, green and blue");
  for (std::uint32_t c = 0; c < image.components; ++c) {
    const Component& one = image.component[c];
    if (one.bits < 1 || one.bits > 16) throw BrokenImage("its samples have " + std::to_string(one.bits) + " bits, 1 to 16 expected");
    if (one.dx != 1 || one.dy != 1) throw BrokenImage("its components have several resolutions");
  }
}

std::uint8_t level(const Component& c, std::size_t i) {
  const std::int64_t white = (std::int64_t{1} << c.bits) - 1, value = std::int64_t{c.data[i]} + (c.is_signed ? white / 2 + 1 : 0);
  const std::int64_t bounded = std::clamp<std::int64_t>(value, 0, white);
  return static_cast<std::uint8_t>(c.bits > 8 ? bounded >> (c.bits - 8) : (bounded * 255 + white / 2) / white);
}

std::uint8_t bounded(double value) { return static_cast<std::uint8_t>(std::clamp(value + 0.5, 0.0, 255.0)); }

Pixels pixels_of(const Image& image) {
  Pixels pixels = room_for(image.x1 - image.x0, image.y1 - image.y0);
  const std::size_t size = pixels.values.size() / 3;
  const bool gray = image.components < 3;   // the second one is alpha
  for (std::uint32_t c = 0; c < (gray ? 1u : 3u); ++c)
    if (const Component& one = image.component[c]; !one.data || std::uint64_t{one.width} * one.height != size)
      throw BrokenImage("component " + std::to_string(c) + " has another size than the picture");
  for (std::size_t i = 0; i < size; ++i) {
    std::uint8_t* to = &pixels.values[3 * i];
    for (std::size_t c = 0; c < 3; ++c) to[c] = level(image.component[gray ? 0 : c], i);
    if (image.colors != kYcc || gray) continue;
    const double y = to[0], blue = to[1] - 128.0, red = to[2] - 128.0;
    to[0] = bounded(y + 1.402 * red), to[1] = bounded(y - 0.344136 * blue - 0.714136 * red), to[2] = bounded(y + 1.772 * blue);
  }
  return pixels;
}

}  // namespace

Pixels decode_jpeg2000(std::string_view bytes) {
  static const OpenJpeg jpeg;
  Source source{bytes};
  const auto expect = [&](bool done) {
    if (!done) throw BrokenImage("OpenJPEG cannot read it" + (source.error.empty() ? "" : ": " + source.error));
  };
  const std::unique_ptr<void, void (*)(Codec)> codec(jpeg.create(bytes.starts_with("\xFF") ? kCodeStream : kFile), jpeg.destroy);
  const std::unique_ptr<void, void (*)(Stream)> stream(jpeg.stream(1 << 16, 1), jpeg.close);
  if (!codec || !stream) throw std::bad_alloc();
  jpeg.on_error(codec.get(), keep_error, &source);
  jpeg.on_read(stream.get(), read_bytes), jpeg.on_skip(stream.get(), skip), jpeg.on_seek(stream.get(), seek);
  jpeg.user(stream.get(), &source, nullptr), jpeg.length(stream.get(), bytes.size());
  const auto parameters = std::make_unique<Parameters>();
  jpeg.defaults(parameters.get());
  expect(jpeg.setup(codec.get(), parameters.get()) != 0);
  Image* read = nullptr;
  const bool has_header = jpeg.header(stream.get(), codec.get(), &read) != 0;
  const std::unique_ptr<Image, void (*)(Image*)> image(read, jpeg.free);
  expect(has_header && image);
  expect_readable(*image);
  expect(jpeg.decode(codec.get(), stream.get(), image.get()) != 0);
  return pixels_of(*image);
}

}  // namespace tenfold::images
