// Files of safetensors: the length of a table, the table in JSON (types, shapes, places), then the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "tenfold/tensor.h"

namespace tenfold::transformers {

// A file of weights, held open. Its bytes are read whole, into memory of this process, so that whoever writes over the file or cuts it off
// neither ends the process (as a mapped file would) nor changes what was read. Thread safe.
class WeightFile {
 public:
  static std::shared_ptr<const WeightFile> open(const std::string& path);  // throws io
  ~WeightFile();
  WeightFile(const WeightFile&) = delete;
  WeightFile& operator=(const WeightFile&) = delete;
  const std::string& path() const { return path_; }
  std::size_t size() const { return size_; }
  std::string head(std::size_t bytes) const;  // the first ones, at most as many
  // All of them: read once, and again behind forget(). Throws io if the file is no longer what it was when it was opened.
  std::shared_ptr<const std::byte[]> bytes() const;
  void read(std::size_t at, std::byte* to, std::size_t bytes) const;  // a part of them, which is not kept; throws io as bytes() does
  void expect_at_path() const;  // throws io where the path leads to another file by now
  void forget() const;  // memory goes with the last tensor that lies in it

 private:
  WeightFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  bool same() const;
  std::string path_;
  int descriptor_;
  std::size_t size_ = 0;
  std::int64_t modified_[2] = {};  // seconds, nanoseconds
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const std::byte[]> bytes_;
};

// Where a tensor lies in its file.
struct TensorPlace {
  DType type;
  Shape shape;
  std::size_t offset, bytes;
};
// The tensors of a file, by name. `head` holds at least its table, `size` is that of all. Throws invalid_model for a table that is wrong,
// overlaps, holes and sizes that disagree; unsupported for types that Tenfold does not know. `what` names the file.
std::map<std::string, TensorPlace> read_table(std::string_view head, std::size_t size, const std::string& what);
std::map<std::string, TensorPlace> read_table(const WeightFile& file);

}  // namespace tenfold::transformers
