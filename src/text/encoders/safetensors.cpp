#include "text/encoders/safetensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "text/fail.h"
#include "text/files/read_json.h"

namespace tenfold::encoders {

using tokenizing::fail;

std::shared_ptr<const FileBytes> FileBytes::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat about {};
  if (file < 0 || ::fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
    const std::string why = file < 0 ? std::strerror(errno) : "it is no file";
    if (file >= 0) ::close(file);
    fail(ErrorKind::io, "'" + path + "' cannot be read: " + why);
  }
  const auto size = static_cast<std::size_t>(about.st_size);
  void* at = size == 0 ? nullptr : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  ::close(file);
  if (at == MAP_FAILED) fail(ErrorKind::io, "'" + path + "' cannot be mapped: " + std::strerror(errno));
  return std::shared_ptr<const FileBytes>(new FileBytes({static_cast<const std::byte*>(at), size}));
}

FileBytes::~FileBytes() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

namespace {

// As the format's own reader has it; an entry has eight values.
constexpr tokenizing::JsonLimits kTableLimits{.bytes = 100'000'000, .values = std::size_t{1} << 21, .depth = 8};

DType type_of(const std::string& name, const std::string& where) {
  static const std::map<std::string, DType> types{{"F32", DType::f32}, {"F64", DType::f64},     {"F16", DType::f16}, {"BF16", DType::bf16},
                                                  {"I64", DType::i64}, {"I32", DType::i32},     {"I16", DType::i16}, {"I8", DType::i8},
                                                  {"U8", DType::u8},   {"BOOL", DType::boolean}};
  const auto at = types.find(name);
  if (at == types.end()) fail(ErrorKind::unsupported, where + ": the type " + name + " is not supported; F32, F16 and BF16 are");
  return at->second;
}

struct Entry {
  std::string name;
  DType type;
  Shape shape;
  std::uint64_t begin, end;  // in the bytes behind the table
};

// Lists of whole numbers from 0 on: shapes and places.
std::vector<std::int64_t> numbers_of(const nlohmann::json& entry, const char* key, const std::string& where) {
  const auto list = entry.find(key);
  const auto is_count = [](const nlohmann::json& one) {
    return one.is_number_unsigned() && one.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX);
  };
  if (list == entry.end() || !list->is_array() || !std::all_of(list->begin(), list->end(), is_count))
    fail(ErrorKind::invalid_model,
         where + ": '" + key + "' is " + (list == entry.end() ? "missing" : "no list of whole numbers from 0 on"));
  return list->get<std::vector<std::int64_t>>();
}

// The bytes of an array; a product that is beyond all files is no size.
std::uint64_t bytes_of(const Entry& e, const std::string& where) {
  std::int64_t size = bits(e.type) / 8;
  const bool is_empty = std::find(e.shape.begin(), e.shape.end(), 0) != e.shape.end();
  for (const std::int64_t extent : e.shape)
    if (!is_empty && __builtin_mul_overflow(size, extent, &size))
      fail(ErrorKind::invalid_model, where + ": its shape " + tenfold::text(e.shape) + " has more elements than can be counted");
  return is_empty ? 0 : static_cast<std::uint64_t>(size);
}

Entry read_entry(const std::string& name, const nlohmann::json& json, const std::string& what) {
  const std::string where = what + ": tensor '" + name + "'";
  if (!json.is_object()) fail(ErrorKind::invalid_model, where + ": its entry is no JSON object");
  const auto type = json.find("dtype");
  if (type == json.end() || !type->is_string()) fail(ErrorKind::invalid_model, where + ": 'dtype' is no string");
  Entry e{name, type_of(type->get<std::string>(), where), numbers_of(json, "shape", where), 0, 0};
  const std::vector<std::int64_t> places = numbers_of(json, "data_offsets", where);
  if (places.size() != 2)
    fail(ErrorKind::invalid_model, where + ": 'data_offsets' has " + std::to_string(places.size()) + " numbers, not 2");
  e.begin = static_cast<std::uint64_t>(places[0]), e.end = static_cast<std::uint64_t>(places[1]);
  const std::uint64_t bytes = bytes_of(e, where);
  if (e.end < e.begin || e.end - e.begin != bytes)
    fail(ErrorKind::invalid_model, where + ": it takes bytes " + std::to_string(e.begin) + " to " + std::to_string(e.end) +
                                       ", but its shape " + tenfold::text(e.shape) + " needs " + std::to_string(bytes));
  return e;
}

std::vector<Entry> read_table(std::span<const std::byte> file, const std::string& what, std::size_t& body) {
  constexpr std::size_t kHead = 8;   // the table's length
  const auto refuse = [&](const std::string& why) { fail(ErrorKind::invalid_model, what + " is no safetensors file: " + why); };
  if (file.size() < kHead) refuse("it has " + std::to_string(file.size()) + " bytes, and the length of its table alone takes 8");
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), kHead);
  if (length > kTableLimits.bytes)
    refuse("its table has " + std::to_string(length) + " bytes; " + std::to_string(kTableLimits.bytes) + " are the most");
  if (length > file.size() - kHead)
    refuse("its table of " + std::to_string(length) + " bytes ends behind the file's " + std::to_string(file.size()));
  body = kHead + static_cast<std::size_t>(length);
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + kHead, static_cast<std::size_t>(length));
  const nlohmann::json table = tokenizing::parsed(text, what + ": its table", kTableLimits);
  if (!table.is_object()) fail(ErrorKind::invalid_model, what + ": its table is no JSON object");
  std::vector<Entry> entries;
  for (const auto& [name, entry] : table.items())
    if (name != "__metadata__") entries.push_back(read_entry(name, entry, what));
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  return entries;
}

// Each tensor begins where the one before it ends, and the last one ends the file: what is else is an overlap or a hole.
void check_places(const std::vector<Entry>& entries, std::uint64_t bytes, const std::string& what) {
  std::uint64_t at = 0;
  for (const Entry& e : entries) {
    if (e.begin != at)
      fail(ErrorKind::invalid_model, what + ": tensor '" + e.name + "' begins at byte " + std::to_string(e.begin) +
                                         (e.begin < at ? ", inside the one before it, which ends at " : ", behind a hole from byte ") +
                                         std::to_string(at) + "; save the file anew");
    at = e.end;
  }
  if (at != bytes)
    fail(ErrorKind::invalid_model, what + ": its tensors take " + std::to_string(at) + " bytes, but there are " + std::to_string(bytes) +
                                       "; the file is cut off or was not written whole");
}

}  // namespace

std::map<std::string, Tensor> read_safetensors(std::span<const std::byte> file, std::shared_ptr<const void> owner,
                                               const std::string& what) {
  std::size_t body = 0;
  const std::vector<Entry> entries = read_table(file, what, body);
  check_places(entries, file.size() - body, what);
  std::map<std::string, Tensor> tensors;
  for (const Entry& e : entries) {
    const std::byte* data = file.data() + body + e.begin;
    const auto width = static_cast<std::uintptr_t>(std::max(1, bits(e.type) / 8));
    if (reinterpret_cast<std::uintptr_t>(data) % width == 0) {
      tensors.emplace(e.name, Tensor(e.type, e.shape, owner, data));
    } else {
      Tensor copy(e.type, e.shape);
      if (e.end > e.begin) std::memcpy(copy.mutable_raw(), data, e.end - e.begin);
      tensors.emplace(e.name, std::move(copy));
    }
  }
  return tensors;
}

std::map<std::string, Tensor> read_safetensors(const std::string& path) {
  const auto file = FileBytes::open(path);
  return read_safetensors(file->bytes(), file, "'" + path + "'");
}

}  // namespace tenfold::encoders
