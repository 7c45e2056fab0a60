#include "text/transformers/safetensors_writer.h"

#include <cerrno>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "text/fail.h"

namespace tenfold::transformers {

using tokenizing::fail;

namespace {

const char* name_of(DType type) {
  static const std::map<DType, const char*> names{{DType::f32, "F32"},      {DType::f64, "F64"},         {DType::f16, "F16"},
                                                  {DType::bf16, "BF16"},    {DType::i64, "I64"},         {DType::i32, "I32"},
                                                  {DType::i16, "I16"},      {DType::i8, "I8"},           {DType::u8, "U8"},
                                                  {DType::boolean, "BOOL"}, {DType::f8e4m3fn, "F8_E4M3"},
                                                  {DType::f8e8m0, "F8_E8M0"}};
  return names.at(type);
}

}  // namespace

void SafetensorsWriter::add(const std::string& name, DType type, const Shape& shape) { entries_.push_back({name, type, shape}); }

void SafetensorsWriter::put(const void* bytes, std::size_t count) {
  if (count > 0 && std::fwrite(bytes, 1, count, file_.get()) != count)
    fail(ErrorKind::io, "'" + path_ + "' cannot be written: " + std::strerror(errno));
}

void SafetensorsWriter::begin(const std::string& path) {
  nlohmann::json table{{"__metadata__", {{"format", "pt"}}}};
  std::int64_t at = 0;
  for (const Entry& e : entries_) {
    const std::int64_t end = at + byte_size(e.type, element_count(e.shape));
    table[e.name] = {{"dtype", name_of(e.type)}, {"shape", e.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = table.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');   // the first tensor begins on a multiple of 8
  path_ = path;
  file_.reset(std::fopen(path.c_str(), "wb"));
  if (!file_) fail(ErrorKind::io, "'" + path + "' cannot be written: " + std::strerror(errno));
  const std::uint64_t length = text.size();
  put(&length, sizeof length), put(text.data(), text.size());
}

void SafetensorsWriter::write(const Tensor& tensor) {
  const Entry& e = entries_.at(written_++);
  if (tensor.dtype() != e.type || tensor.shape() != e.shape) fail(ErrorKind::internal, "'" + e.name + "' is not what was to be written");
  put(tensor.raw(), static_cast<std::size_t>(tensor.bytes()));
}

void SafetensorsWriter::finish() {
  if (written_ != entries_.size()) fail(ErrorKind::internal, "'" + path_ + "' lacks tensors that were to be written");
  if (std::fclose(file_.release()) != 0) fail(ErrorKind::io, "'" + path_ + "' cannot be written: " + std::strerror(errno));
}

}  // namespace tenfold::transformers
