// Writes a file of safetensors: first which tensors there are, then their bytes in the same order.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tenfold/tensor.h"

namespace tenfold::transformers {

class SafetensorsWriter {
 public:
  void add(const std::string& name, DType type, const Shape& shape);
  void begin(const std::string& path);          // throws io, as the others do
  void write(const Tensor& tensor);             // the next one
  void finish();

 private:
  struct Entry {
    std::string name;
    DType type;
    Shape shape;
  };
  void put(const void* bytes, std::size_t count);
  std::vector<Entry> entries_;
  std::string path_;
  std::size_t written_ = 0;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, std::fclose};
};

}  // namespace tenfold::transformers
