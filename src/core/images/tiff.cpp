// TIFF by libtiff from 4.5 on, declared here as its documentation has it. The first picture of the file is read.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "images/decode.h"
#include "images/system_library.h"

namespace tenfold::images {
namespace {

using Tiff = void*;
using Options = void*;
using Handler = int(Tiff, void* user, const char* module, const char* format, va_list);
using ReadWrite = std::int64_t(void*, void*, std::int64_t);
constexpr std::uint32_t kWidth = 256, kHeight = 257;   // tags
constexpr int kFromTop = 1;                            // ORIENTATION_TOPLEFT

struct LibTiff {
  Options (*options)();
  void (*free_options)(Options);
  void (*limit)(Options, std::int64_t);
  void (*on_error)(Options, Handler*, void*);
  void (*on_warning)(Options, Handler*, void*);
  Tiff (*open)(const char*, const char*, void*, ReadWrite* read, ReadWrite* write, std::uint64_t (*seek)(void*, std::uint64_t, int),
               int (*close)(void*), std::uint64_t (*size)(void*), int (*map)(void*, void**, std::uint64_t*),
               void (*unmap)(void*, void*, std::uint64_t), Options);
  void (*close)(Tiff);
  int (*field)(Tiff, std::uint32_t tag, ...);
  int (*read)(Tiff, std::uint32_t width, std::uint32_t height, std::uint32_t*, int orientation, int stop_on_error);

  LibTiff() {
    const SystemLibrary library("libtiff.so.6", "libtiff6", "reading TIFF");
    library.find("TIFFOpenOptionsAlloc", options), library.find("TIFFOpenOptionsFree", free_options);
    library.find("TIFFOpenOptionsSetMaxSingleMemAlloc", limit), library.find("TIFFOpenOptionsSetErrorHandlerExtR", on_error);
    library.find("TIFFOpenOptionsSetWarningHandlerExtR", on_warning), library.find("TIFFClientOpenExt", open);
    library.find("TIFFClose", close), library.find("TIFFGetField", field), library.find("TIFFReadRGBAImageOriented", read);
  }
};

// The file, and what libtiff says of it first.
struct Source {
  std::string_view bytes;
  std::uint64_t at = 0;
  std::string error = {};
};

std::int64_t read_bytes(void* user, void* to, std::int64_t size) {
  Source& source = *static_cast<Source*>(user);
  if (size <= 0 || source.at >= source.bytes.size()) return 0;
  const std::size_t part = std::min(static_cast<std::size_t>(size), source.bytes.size() - static_cast<std::size_t>(source.at));
  std::memcpy(to, source.bytes.data() + source.at, part);
  source.at += part;
  return static_cast<std::int64_t>(part);
}

std::int64_t write_nothing(void*, void*, std::int64_t) { return 0; }

std::uint64_t seek(void* user, std::uint64_t offset, int from) {
  Source& source = *static_cast<Source*>(user);
  const std::uint64_t base = from == SEEK_CUR ? source.at : from == SEEK_END ? source.bytes.size() : 0;
  return source.at = base + offset;
}

int close_nothing(void*) { return 0; }
std::uint64_t size_of(void* user) { return static_cast<Source*>(user)->bytes.size(); }

int keep_error(Tiff, void* user, const char*, const char* format, va_list arguments) {
  char text[512];
  std::vsnprintf(text, sizeof text, format, arguments);
  if (std::string& error = static_cast<Source*>(user)->error; error.empty()) error = text;
  return 1;
}
int keep_silent(Tiff, void*, const char*, const char*, va_list) { return 1; }

}  // namespace

Pixels decode_tiff(std::string_view bytes) {
  static const LibTiff tiff;
  constexpr std::int64_t kMax = std::int64_t{1} << 29;   // bytes at once: a tag may claim any number
  Source source{bytes};
  const auto refuse = [&] { throw BrokenImage("libtiff cannot read it" + (source.error.empty() ? "" : ": " + source.error)); };
  const std::unique_ptr<void, void (*)(Options)> options(tiff.options(), tiff.free_options);
  if (!options) throw std::bad_alloc();
  tiff.limit(options.get(), kMax);
  tiff.on_error(options.get(), keep_error, &source), tiff.on_warning(options.get(), keep_silent, nullptr);
  // "m": the file is not mapped.
  const std::unique_ptr<void, void (*)(Tiff)> file(
      tiff.open("image", "rm", &source, read_bytes, write_nothing, seek, close_nothing, size_of, nullptr, nullptr, options.get()),
      tiff.close);
  if (!file) refuse();
  std::uint32_t width = 0, height = 0;
  if (!tiff.field(file.get(), kWidth, &width) || !tiff.field(file.get(), kHeight, &height)) refuse();
  expect_size(width, height);
  const std::size_t size = std::size_t{width} * height;
  // Red is in the lowest bits. Memory that nothing is written to costs nothing: a short file may claim many pixels.
  const std::unique_ptr<std::uint32_t, void (*)(void*)> raster(static_cast<std::uint32_t*>(std::calloc(size, 4)), std::free);
  if (!raster) throw std::bad_alloc();
  if (!tiff.read(file.get(), width, height, raster.get(), kFromTop, 1)) refuse();
  Pixels pixels = room_for(width, height);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t c = 0; c < 3; ++c) pixels.values[3 * i + c] = static_cast<std::uint8_t>(raster.get()[i] >> 8 * c);
  return pixels;
}

}  // namespace tenfold::images
