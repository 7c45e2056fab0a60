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

constexpr std::size_t kLongestTable = 100'000'000;  // as the format's own reader has it

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

Entry read_entry(const std::string& name, const nlohmann::json& json, const std::string& what) {
  const std::string where = what + ": tensor '" + name + "'";
  try {
    Entry e{name, type_of(json.at("dtype").get<std::string>(), where), {}, 0, 0};
    for (const nlohmann::json& extent : json.at("shape")) e.shape.push_back(static_cast<std::int64_t>(extent.get<std::uint64_t>()));
    const nlohmann::json& places = json.at("data_offsets");
    if (!places.is_array() || places.size() != 2 || !places[0].is_number_unsigned() || !places[1].is_number_unsigned())
      fail(ErrorKind::invalid_model, where + ": data_offsets is not two places");
    e.begin = places[0].get<std::uint64_t>(), e.end = places[1].get<std::uint64_t>();
    const auto bytes = static_cast<std::uint64_t>(byte_size(e.type, element_count(e.shape)));
    if (e.end < e.begin || e.end - e.begin != bytes)
      fail(ErrorKind::invalid_model, where + ": it takes bytes " + std::to_string(e.begin) + " to " + std::to_string(e.end) +
                                         ", but its shape " + tenfold::text(e.shape) + " needs " + std::to_string(bytes));
    return e;
  } catch (const nlohmann::json::exception& wrong) {
    fail(ErrorKind::invalid_model, where + ": " + wrong.what());
  }
}

std::vector<Entry> read_table(std::span<const std::byte> file, const std::string& what, std::size_t& body) {
  std::uint64_t length = 0;
  if (file.size() >= 8) std::memcpy(&length, file.data(), 8);
  if (file.size() < 8 || length > kLongestTable || length > file.size() - 8)
    fail(ErrorKind::invalid_model, what + " is no safetensors file: its table of " + std::to_string(length) +
                                       " bytes ends behind the file's " + std::to_string(file.size()));
  body = 8 + static_cast<std::size_t>(length);
  const char* text = reinterpret_cast<const char*>(file.data()) + 8;
  const nlohmann::json table = nlohmann::json::parse(text, text + length, nullptr, false);
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
