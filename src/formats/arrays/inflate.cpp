// zlib's interface, declared here as its manual has it: it is the same in all versions 1.
#include "formats/arrays/inflate.h"

#include <algorithm>
#include <limits>

#include "images/system_library.h"
#include "tenfold/error.h"

namespace tenfold::formats {
namespace {

struct Stream {   // z_stream
  const unsigned char* next_in = nullptr;
  unsigned available_in = 0;
  unsigned long total_in = 0;
  unsigned char* next_out = nullptr;
  unsigned available_out = 0;
  unsigned long total_out = 0;
  const char* message = nullptr;
  void *state = nullptr, *allocate = nullptr, *release = nullptr, *opaque = nullptr;
  int data_type = 0;
  unsigned long adler = 0, reserved = 0;
};
static_assert(sizeof(Stream) == 112);
constexpr int kRaw = -15;          // windowBits: no header around it
constexpr int kOk = 0, kEnd = 1;   // Z_OK, Z_STREAM_END

struct Zlib {
  int (*begin)(Stream*, int window_bits, const char* version, int bytes);
  int (*step)(Stream*, int flush);
  int (*end)(Stream*);

  Zlib() {
    const images::SystemLibrary library("libz.so.1", "zlib1g", "reading a compressed .npz");
    library.find("inflateInit2_", begin), library.find("inflate", step), library.find("inflateEnd", end);
  }
};

struct Session {
  const Zlib& zlib;
  Stream stream;
  explicit Session(const Zlib& library) : zlib(library) {
    if (zlib.begin(&stream, kRaw, "1.2.0", sizeof stream) != kOk) throw Error(ErrorKind::io, "zlib does not start");
  }
  ~Session() { zlib.end(&stream); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
};

}  // namespace

std::string inflated(std::string_view deflated, std::uint64_t full, const std::string& what) {
  constexpr std::uint64_t kMaxRatio = 1032;   // of deflate: what claims more is damaged, and no memory is taken for it
  if (full / kMaxRatio > deflated.size() + 1) throw Error(ErrorKind::io, what + ": its size is damaged");
  static const Zlib zlib;
  Session session(zlib);
  Stream& s = session.stream;
  std::string out(full, '\0');
  constexpr std::size_t kPiece = std::numeric_limits<unsigned>::max();   // zlib counts in 32 bits
  unsigned char last = 0;   // room for a byte too many, and an address where there are none
  std::size_t read = 0, written = 0;
  for (int result = kOk; result != kEnd;) {
    const auto in = static_cast<unsigned>(std::min(kPiece, deflated.size() - read));
    const auto room = static_cast<unsigned>(std::min(kPiece, out.size() - written));
    s.next_in = reinterpret_cast<const unsigned char*>(deflated.data()) + read, s.available_in = in;
    s.next_out = room > 0 ? reinterpret_cast<unsigned char*>(out.data()) + written : &last, s.available_out = room > 0 ? room : 1;
    result = zlib.step(&s, 0);
    const std::size_t more = (room > 0 ? room : 1) - s.available_out;
    read += in - s.available_in, written += more;
    const bool stands_still = in == s.available_in && more == 0;
    if (written > out.size() || (result != kEnd && (result != kOk || stands_still)))
      throw Error(ErrorKind::io, what + ": the compressed data is damaged" + (s.message ? ": " + std::string(s.message) : ""));
  }
  if (written != out.size())
    throw Error(ErrorKind::io, what + ": the compressed data has " + std::to_string(written) + " bytes, not " + std::to_string(full));
  return out;
}

}  // namespace tenfold::formats
