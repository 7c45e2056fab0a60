// JPEG by libturbojpeg, declared here as its documentation has it: versions 2 and 3 have these functions alike.
#include <new>

#include "images/decode.h"
#include "images/system_library.h"

namespace tenfold::images {
namespace {

using Handle = void*;
constexpr int kRgb = 0;               // TJPF_RGB
constexpr int kCmyk = 3, kYcck = 4;   // TJCS_CMYK, TJCS_YCCK
constexpr int kAccurate = 4096;       // TJFLAG_ACCURATEDCT
constexpr int kLimitScans = 32768;    // TJFLAG_LIMITSCANS: of 500, for a few bytes may ask for more

struct TurboJpeg {
  Handle (*init)();
  int (*header)(Handle, const unsigned char*, unsigned long, int* width, int* height, int* sampling, int* colors);
  int (*decompress)(Handle, const unsigned char*, unsigned long, unsigned char*, int width, int pitch, int height, int format, int flags);
  char* (*message)(Handle);
  int (*destroy)(Handle);

  TurboJpeg() {
    const SystemLibrary library("libturbojpeg.so.0", "libturbojpeg0", "reading JPEG");
    library.find("tjInitDecompress", init), library.find("tjDecompressHeader3", header), library.find("tjDecompress2", decompress);
    library.find("tjGetErrorStr2", message), library.find("tjDestroy", destroy);
  }
};

struct Decoder {
  const TurboJpeg& jpeg;
  Handle handle;
  explicit Decoder(const TurboJpeg& library) : jpeg(library), handle(library.init()) {
    if (!handle) throw std::bad_alloc();
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { jpeg.destroy(handle); }
};

}  // namespace

Pixels decode_jpeg(std::string_view bytes) {
  static const TurboJpeg jpeg;
  const Decoder decoder(jpeg);
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  int width = 0, height = 0, sampling = 0, colors = 0;
  if (jpeg.header(decoder.handle, data, bytes.size(), &width, &height, &sampling, &colors) != 0)
    throw BrokenImage(jpeg.message(decoder.handle));
  if (colors == kCmyk || colors == kYcck) throw BrokenImage("it is of four inks (CMYK), and models take red, green and blue");
  Pixels pixels = room_for(width, height);
  const int failed = jpeg.decompress(decoder.handle, data, bytes.size(), pixels.values.data(), width, 0, height, kRgb,
                                     kAccurate | kLimitScans);
  // A warning is a failure, too: of a file that was cut, what is missing is gray. Bytes too many between two parts harm no pixel.
  if (const std::string why = failed ? jpeg.message(decoder.handle) : ""; failed && why.find("extraneous bytes") == why.npos)
    throw BrokenImage(why);
  return pixels;
}

}  // namespace tenfold::images
