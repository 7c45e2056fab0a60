// The pool of a plan's constants, deduplicated by content.
#include <cstring>

#include "base/checked.h"
#include "base/hash.h"
#include "builder/assemble.h"

namespace tenfold::builder {

namespace {
std::uint64_t hash_of(const void* data, std::int64_t bytes) {
  return hash64(std::span(static_cast<const std::byte*>(data), static_cast<std::size_t>(bytes)));
}
}  // namespace

std::int32_t ConstantPool::find(const void* data, std::int64_t bytes, std::uint64_t hash) const {
  const auto same_hash = by_hash_.find({hash, bytes});
  if (same_hash == by_hash_.end()) return -1;
  for (std::int32_t index : same_hash->second)
    if (std::memcmp(chunks_[static_cast<std::size_t>(index)].data.get(), data, static_cast<std::size_t>(bytes)) == 0) return index;
  return -1;
}

ConstantPool::Place ConstantPool::find(const Tensor& tensor) const {
  const std::uint64_t hash = hash_of(tensor.raw(), tensor.bytes());
  if (const auto packed = packed_.find({hash, tensor.bytes()}); packed != packed_.end()) return {packed->second, true};
  return {find(tensor.raw(), tensor.bytes(), hash), false};
}

std::int32_t ConstantPool::add_packed(const std::string& name, const Tensor& original, const Tensor& packed) {
  const std::int32_t index = add(name, packed.raw(), packed.bytes());
  packed_.try_emplace({hash_of(original.raw(), original.bytes()), original.bytes()}, index);   // any packing will do
  return index;
}

std::int32_t ConstantPool::add(const std::string& name, const void* data, std::int64_t bytes) {
  const std::uint64_t hash = hash_of(data, bytes);
  if (const std::int32_t known = find(data, bytes, hash); known >= 0) return known;
  Chunk chunk{std::shared_ptr<std::byte[]>(new std::byte[static_cast<std::size_t>(bytes)]), bytes};
  std::memcpy(chunk.data.get(), data, static_cast<std::size_t>(bytes));
  const auto index = static_cast<std::int32_t>(constants_.size());
  const std::int64_t offset = constants_.empty() ? 0 : round_up(constants_.back().offset + constants_.back().bytes, 64);
  constants_.push_back({name, offset, bytes, hash});
  chunks_.push_back(std::move(chunk));
  by_hash_[{hash, bytes}].push_back(index);
  return index;
}

void ConstantPool::move_into(plan::Plan& plan) {
  const std::int64_t total = constants_.empty() ? 0 : round_up(constants_.back().offset + constants_.back().bytes, 64);
  Tensor storage(DType::u8, {total});
  for (std::size_t i = 0; i < constants_.size(); ++i) {
    std::memcpy(static_cast<std::byte*>(storage.mutable_raw()) + constants_[i].offset, chunks_[i].data.get(), static_cast<std::size_t>(chunks_[i].bytes));
    chunks_[i].data.reset();   // at most one constant is held twice at a time
  }
  plan.constants = std::move(constants_);
  plan.weights = static_cast<const std::byte*>(storage.raw());
  plan.weights_bytes = total;
  plan.weights_owner = std::make_shared<Tensor>(std::move(storage));
}

}  // namespace tenfold::builder
