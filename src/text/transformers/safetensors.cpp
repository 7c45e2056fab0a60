#include "text/transformers/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "text/fail.h"
#include "text/tokenizers/files/read_json.h"

namespace tenfold::transformers {

using tokenizing::fail;

std::shared_ptr<const WeightFile> WeightFile::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // or a named pipe would wait for its writer
  if (descriptor < 0) fail(ErrorKind::io, "'" + path + "' cannot be read: " + std::strerror(errno));
  std::shared_ptr<WeightFile> file(new WeightFile(path, descriptor));
  struct stat about {};
  if (::fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) fail(ErrorKind::io, "'" + path + "' cannot be read: it is no file");
  file->size_ = static_cast<std::size_t>(about.st_size);
  file->modified_[0] = about.st_mtim.tv_sec, file->modified_[1] = about.st_mtim.tv_nsec;
  return file;
}

WeightFile::~WeightFile() { ::close(descriptor_); }

bool WeightFile::same() const {
  struct stat now {};
  return ::fstat(descriptor_, &now) == 0 && static_cast<std::size_t>(now.st_size) == size_ && now.st_mtim.tv_sec == modified_[0] &&
         now.st_mtim.tv_nsec == modified_[1];
}

void WeightFile::read(std::size_t at, std::byte* to, std::size_t bytes) const {
  while (bytes > 0) {
    const ssize_t got = ::pread(descriptor_, to, bytes, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(ErrorKind::io, "'" + path_ + "' cannot be read: " + std::strerror(errno));
    if (got == 0) break;
    at += static_cast<std::size_t>(got), to += got, bytes -= static_cast<std::size_t>(got);
  }
  if (bytes > 0 || !same())
    fail(ErrorKind::io, "'" + path_ + "' has changed since it was opened; load the model again, and replace files of one in use (a new "
                        "file that is renamed) instead of writing over them");
}

void WeightFile::expect_at_path() const {
  struct stat own {}, there {};
  const bool known = ::fstat(descriptor_, &own) == 0 && ::stat(path_.c_str(), &there) == 0;
  if (!known || own.st_dev != there.st_dev || own.st_ino != there.st_ino || !same())
    fail(ErrorKind::io, "'" + path_ + "' was replaced since it was opened; load the model again");
}

std::string WeightFile::head(std::size_t bytes) const {
  std::string text(std::min(bytes, size_), '\0');
  read(0, reinterpret_cast<std::byte*>(text.data()), text.size());
  return text;
}

std::shared_ptr<const std::byte[]> WeightFile::bytes() const {
  const std::lock_guard lock(mutex_);
  if (!bytes_) {
    const std::shared_ptr<std::byte[]> fresh(new std::byte[size_]);
    read(0, fresh.get(), size_);
    bytes_ = fresh;
  }
  return bytes_;
}

void WeightFile::forget() const {
  const std::lock_guard lock(mutex_);
  bytes_.reset();
}

namespace {

// As the format's own reader has it; an entry has eight values.
constexpr tokenizing::JsonLimits kTableLimits{.bytes = 100'000'000, .values = std::size_t{1} << 21, .depth = 8};

DType type_of(const std::string& name, const std::string& where) {
  static const std::map<std::string, DType> types{
      {"F32", DType::f32}, {"F64", DType::f64},      {"F16", DType::f16},          {"BF16", DType::bf16},
      {"I64", DType::i64}, {"I32", DType::i32},      {"I16", DType::i16},          {"I8", DType::i8},
      {"U8", DType::u8},   {"BOOL", DType::boolean}, {"F8_E4M3", DType::f8e4m3fn}, {"F8_E8M0", DType::f8e8m0}};
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

std::vector<Entry> entries_of(std::string_view file, std::size_t size, const std::string& what, std::size_t& body) {
  constexpr std::size_t kHead = 8;   // the table's length
  const auto refuse = [&](const std::string& why) { fail(ErrorKind::invalid_model, what + " is no safetensors file: " + why); };
  if (size < kHead || file.size() < kHead)
    refuse("it has " + std::to_string(size) + " bytes, and the length of its table alone takes 8");
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), kHead);
  if (length > kTableLimits.bytes)
    refuse("its table has " + std::to_string(length) + " bytes; " + std::to_string(kTableLimits.bytes) + " are the most");
  if (length > size - kHead || length > file.size() - kHead)
    refuse("its table of " + std::to_string(length) + " bytes ends after the file's " + std::to_string(size));
  body = kHead + static_cast<std::size_t>(length);
  const nlohmann::json table = tokenizing::parsed(file.substr(kHead, static_cast<std::size_t>(length)), what + ": its table", kTableLimits);
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
                                         (e.begin < at ? ", inside the one before it, which ends at " : ", after a hole from byte ") +
                                         std::to_string(at) + "; save the file anew");
    at = e.end;
  }
  if (at != bytes)
    fail(ErrorKind::invalid_model, what + ": its tensors take " + std::to_string(at) + " bytes, but there are " + std::to_string(bytes) +
                                       "; the file is cut off or was not written whole");
}

}  // namespace

std::map<std::string, TensorPlace> read_table(std::string_view head, std::size_t size, const std::string& what) {
  std::size_t body = 0;
  const std::vector<Entry> entries = entries_of(head, size, what, body);
  check_places(entries, size - body, what);
  std::map<std::string, TensorPlace> places;
  for (const Entry& e : entries)
    places.emplace(e.name, TensorPlace{e.type, e.shape, body + e.begin, e.end - e.begin});
  return places;
}

std::map<std::string, TensorPlace> read_table(const WeightFile& file) {
  std::uint64_t length = 0;
  const std::string start = file.head(8);
  if (start.size() == 8) std::memcpy(&length, start.data(), 8);
  return read_table(file.head(8 + static_cast<std::size_t>(std::min<std::uint64_t>(length, kTableLimits.bytes))), file.size(),
                    "'" + file.path() + "'");
}

}  // namespace tenfold::transformers
