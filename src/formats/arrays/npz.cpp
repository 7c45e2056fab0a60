// Reading and writing .npz.
#include "formats/arrays/npz.h"

#include <array>
#include <limits>

#include "formats/arrays/inflate.h"
#include "tenfold/error.h"

namespace tenfold::formats {
namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr std::uint64_t kOnes16 = 0xFFFF, kOnes32 = 0xFFFFFFFF;   // zip64: the number is elsewhere, in 64 bits
constexpr std::uint64_t kStored = 0, kDeflated = 8;  // methods of members

[[noreturn]] void bad(const std::string& what, const std::string& why) { throw Error(ErrorKind::io, what + ": " + why); }

std::uint32_t crc32(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      t[i] = i;
      for (int k = 0; k < 8; ++k) t[i] = (t[i] >> 1) ^ ((t[i] & 1) ? 0xEDB88320u : 0);
    }
    return t;
  }();
  std::uint32_t crc = ~0u;
  for (const char c : bytes) crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  return ~crc;
}

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

// Little-endian numbers at checked places.
struct Reader {
  std::string_view bytes;
  const std::string& what;
  std::uint64_t get(std::size_t at, int count) const {
    if (at > bytes.size() || bytes.size() - at < static_cast<std::size_t>(count)) bad(what, "the archive ends too early");
    std::uint64_t value = 0;
    for (int i = 0; i < count; ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)])) << (8 * i);
    return value;
  }
  std::string_view span(std::size_t at, std::size_t length) const {
    if (at > bytes.size() || bytes.size() - at < length) bad(what, "the archive ends too early");
    return bytes.substr(at, length);
  }
};

std::size_t find_end(const Reader& in) {
  constexpr std::size_t kEndSize = 22, kLongestComment = 65535;
  if (in.bytes.size() < kEndSize) bad(in.what, "this is no .npz archive, or it is cut off");
  for (std::size_t back = kEndSize; back <= in.bytes.size() && back <= kEndSize + kLongestComment; ++back)
    if (in.get(in.bytes.size() - back, 4) == kEnd) return in.bytes.size() - back;
  bad(in.what, "this is no .npz archive, or it is cut off");
}

struct Directory {
  std::uint64_t members = 0;
  std::size_t begin = 0;
};

Directory find_directory(const Reader& in) {
  constexpr std::size_t kLocatorSize = 20;
  const std::size_t end = find_end(in);
  Directory directory{in.get(end + 10, 2), in.get(end + 16, 4)};
  if (directory.members != kOnes16 && directory.begin != kOnes32) return directory;
  if (end < kLocatorSize || in.get(end - kLocatorSize, 4) != kLocator64) return directory;
  const std::size_t end64 = in.get(end - kLocatorSize + 8, 8);
  if (in.get(end64, 4) != kEnd64) bad(in.what, "the archive's zip64 record is damaged");
  in.span(end64, 56);   // all of it lies in the file
  return {in.get(end64 + 32, 8), in.get(end64 + 48, 8)};
}

// The sizes of a member: zip64 archives, as NumPy writes them, keep them in an extra field of the directory.
void read_zip64(const Reader& in, std::size_t extra, std::size_t length, std::uint64_t& full, std::uint64_t& stored,
                std::uint64_t& offset) {
  const std::size_t end = extra + length;
  for (std::size_t at = extra; at + 4 <= end;) {
    const std::uint64_t id = in.get(at, 2), size = in.get(at + 2, 2);
    std::size_t field = at + 4;
    if (id == 1)
      for (std::uint64_t* value : {&full, &stored, &offset})
        if (*value == kOnes32 && field + 8 <= at + 4 + size) *value = in.get(field, 8), field += 8;
    at += 4 + size;
  }
}

}  // namespace

std::map<std::string, NpyArray> parse_npz(std::string_view bytes, const std::string& what) {
  const Reader in{bytes, what};
  const auto [members, begin] = find_directory(in);
  std::size_t at = begin;
  std::uint64_t deflated = 0;
  std::map<std::string, NpyArray> arrays;
  for (std::uint64_t m = 0; m < members; ++m) {
    if (in.get(at, 4) != kCentral) bad(what, "the archive's directory is damaged");
    const std::size_t name_length = in.get(at + 28, 2), extra = in.get(at + 30, 2), comment = in.get(at + 32, 2);
    std::uint64_t stored = in.get(at + 20, 4), full = in.get(at + 24, 4), local = in.get(at + 42, 4);
    std::string member(in.span(at + 46, name_length));
    in.span(at + 46 + name_length, extra);
    read_zip64(in, at + 46 + name_length, extra, full, stored, local);
    const std::uint64_t method = in.get(at + 10, 2);
    if (method != kStored && method != kDeflated)
      bad(what, "'" + member + "' is compressed by method " + std::to_string(method) + "; numpy.savez and savez_compressed can be read");
    if (in.get(local, 4) != kLocal || (method == kStored && stored != full)) bad(what, "the archive's entry '" + member + "' is damaged");
    std::string_view data = in.span(local + 30 + in.get(local + 26, 2) + in.get(local + 28, 2), stored);
    std::shared_ptr<const std::string> own;
    // Entries that share their bytes, as no writer makes them, could ask for any memory.
    if (method == kDeflated && (deflated += stored) > bytes.size()) bad(what, "the archive's entries overlap, at '" + member + "'");
    if (method == kDeflated) own = std::make_shared<const std::string>(inflated(data, full, what + "['" + member + "']")), data = *own;
    if (crc32(data) != in.get(at + 16, 4)) bad(what, "the checksum of '" + member + "' is wrong");
    if (member.size() > 4 && member.ends_with(".npy")) member.resize(member.size() - 4);
    NpyArray& array = arrays[member] = parse_npy(data, what + "['" + member + "']");
    if (!array.own) array.own = std::move(own);
    at += 46 + name_length + extra + comment;
  }
  return arrays;
}

std::string to_npz(const std::vector<std::pair<std::string, Tensor>>& arrays) {
  std::string out, directory;
  for (const auto& [name, tensor] : arrays) {
    const std::string data = to_npy(tensor), member = name + ".npy";
    if (data.size() + out.size() > std::numeric_limits<std::uint32_t>::max() || member.size() > 65535 || arrays.size() > 65535)
      bad("'" + name + "'", "too large for one .npz archive (4 GiB)");
    std::string common;                                                                        // what the entry and the directory say alike
    put(common, 20, 2), put(common, 0x800, 2), put(common, 0, 2), put(common, 0x00210000, 4);  // UTF-8 names, stored, 1980-01-01
    put(common, crc32(data), 4), put(common, data.size(), 4), put(common, data.size(), 4), put(common, member.size(), 2), put(common, 0, 2);
    put(directory, kCentral, 4), put(directory, 20, 2);
    directory += common;
    put(directory, 0, 2), put(directory, 0, 2), put(directory, 0, 2), put(directory, 0, 4), put(directory, out.size(), 4);
    directory += member;
    put(out, kLocal, 4);
    out += common + member + data;
  }
  const std::size_t start = out.size();
  out += directory;
  put(out, kEnd, 4), put(out, 0, 4), put(out, arrays.size(), 2), put(out, arrays.size(), 2), put(out, directory.size(), 4),
      put(out, start, 4), put(out, 0, 2);
  return out;
}

}  // namespace tenfold::formats
