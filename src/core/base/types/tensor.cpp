// The owning tensor: aligned storage, shared bytes, element access for any type.
#include "tenfold/tensor.h"

#include <cstdlib>
#include <cstring>

#include "base/checked.h"
#include "base/files/huge_memory.h"
#include "base/memory_limit.h"
#include "base/types/element.h"

namespace tenfold {
namespace {

std::shared_ptr<void> allocate(std::int64_t bytes) {
  constexpr std::int64_t kLarge = 2 << 20;
  expect_memory(bytes, "memory for a tensor");
  if (bytes >= kLarge) {
    std::shared_ptr<void> memory = map_huge(bytes);
    require(memory != nullptr, ErrorKind::out_of_memory, "cannot allocate ", bytes, " bytes for a tensor");
    return memory;
  }
  void* memory = std::aligned_alloc(64, static_cast<std::size_t>(round_up(std::max<std::int64_t>(bytes, 1), 64)));
  require(memory != nullptr, ErrorKind::out_of_memory, "cannot allocate ", bytes, " bytes for a tensor");
  std::memset(memory, 0, static_cast<std::size_t>(bytes));
  return {memory, std::free};
}

// The owner of strings is a vector, raw() its first string: an address even where there is none, as of numbers.
std::shared_ptr<std::vector<std::string>> own(std::vector<std::string> values) {
  auto owned = std::make_shared<std::vector<std::string>>(std::move(values));
  owned->reserve(1);
  return owned;
}

}  // namespace

Tensor::Tensor(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)), size_(element_count(shape_)), writable_(true) {
  if (dtype == DType::string) {
    auto owned = own({});
    owned->resize(static_cast<std::size_t>(size_));
    data_ = owned->data();
    owner_ = std::move(owned);
  } else {
    auto storage = allocate(byte_size(dtype, size_));
    data_ = storage.get();
    owner_ = std::move(storage);
  }
}

Tensor::Tensor(DType dtype, Shape shape, std::shared_ptr<const void> owner, const void* data)
    : dtype_(dtype), shape_(std::move(shape)), size_(element_count(shape_)), owner_(std::move(owner)), data_(data) {
  require(dtype != DType::string, ErrorKind::invalid_argument, "a tensor of strings owns them: Tensor::strings() makes one");
}

Tensor Tensor::strings(Shape shape, std::vector<std::string> values) {
  Tensor result;
  result.dtype_ = DType::string, result.shape_ = std::move(shape), result.size_ = element_count(result.shape_);
  require(result.size_ == static_cast<std::int64_t>(values.size()), ErrorKind::invalid_argument, "string tensor has ", values.size(),
          " values, its shape needs ", result.size_);
  auto owned = own(std::move(values));
  result.data_ = owned->data();
  result.owner_ = std::move(owned);
  return result;
}

void* Tensor::mutable_raw() {
  require(writable_, ErrorKind::invalid_argument, "writing to a tensor that borrows its bytes; clone() makes one of its own");
  return const_cast<void*>(data_);
}

const std::vector<std::string>& Tensor::string_values() const {
  require(dtype_ == DType::string && data_, ErrorKind::invalid_argument, "the elements of a tensor of ", name(dtype_),
          " are asked for as strings");
  return *static_cast<const std::vector<std::string>*>(owner_.get());
}

double Tensor::as_double(std::int64_t index) const { return load_double(dtype_, data_, index); }
std::int64_t Tensor::as_int(std::int64_t index) const { return load_int(dtype_, data_, index); }

Tensor Tensor::clone() const {
  if (dtype_ == DType::string) return strings(shape_, string_values());
  Tensor copy(dtype_, shape_);
  std::memcpy(copy.mutable_raw(), data_, static_cast<std::size_t>(bytes()));
  return copy;
}

Tensor Tensor::reshaped(Shape shape) const {
  require(element_count(shape) == size_, ErrorKind::invalid_argument, "cannot reshape ", text(shape_), " to ", text(shape));
  Tensor copy = *this;
  copy.shape_ = std::move(shape);
  return copy;
}

}  // namespace tenfold
