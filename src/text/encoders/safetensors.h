// Files of safetensors: the length of a table, the table in JSON (types, shapes, places), then the bytes.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "tenfold/tensor.h"

namespace tenfold::encoders {

// A file's bytes, mapped for reading.
class FileBytes {
 public:
  static std::shared_ptr<const FileBytes> open(const std::string& path);  // throws io
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit FileBytes(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

// The tensors of a file, by name. They borrow the file's pages where their places allow it. Throws io; invalid_model for a table that is
// wrong, overlaps, holes and sizes that disagree; unsupported for types that Tenfold does not know.
std::map<std::string, Tensor> read_safetensors(const std::string& path);
// The same for bytes that `owner` keeps.
std::map<std::string, Tensor> read_safetensors(std::span<const std::byte> file, std::shared_ptr<const void> owner, const std::string& what);

}  // namespace tenfold::encoders
