// WebP by libwebp, declared here as its documentation has it. Of a file that moves it reads no picture.
#include <cstring>
#include <memory>

#include "images/decode.h"
#include "images/system_library.h"

namespace tenfold::images {
namespace {

struct LibWebP {
  int (*size)(const std::uint8_t*, std::size_t, int* width, int* height);
  std::uint8_t* (*decode)(const std::uint8_t*, std::size_t, int* width, int* height);
  void (*free)(void*);

  LibWebP() {
    const SystemLibrary library("libwebp.so.7", "libwebp7", "reading WebP");
    library.find("WebPGetInfo", size), library.find("WebPDecodeRGB", decode), library.find("WebPFree", free);
  }
};

}  // namespace

Pixels decode_webp(std::string_view bytes) {
  static const LibWebP webp;
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  int width = 0, height = 0;
  if (!webp.size(data, bytes.size(), &width, &height)) throw BrokenImage("it is no WebP that libwebp reads");
  expect_size(width, height);
  const std::unique_ptr<std::uint8_t, void (*)(void*)> rgb(webp.decode(data, bytes.size(), &width, &height), webp.free);
  if (!rgb) throw BrokenImage("libwebp cannot read it: it is cut, damaged or moves");
  Pixels pixels = room_for(width, height);
  std::memcpy(pixels.values.data(), rgb.get(), pixels.values.size());
  return pixels;
}

}  // namespace tenfold::images
