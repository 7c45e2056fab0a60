// The pool of a plan's constants, deduplicated by content.
#include "base/checked.h"
#include "base/hash.h"
#include "builder/assemble.h"

namespace tenfold::builder {

std::int32_t ConstantPool::add(const std::string& name, const void* data, std::int64_t bytes) {
  const std::uint64_t hash = hash64(std::span(static_cast<const std::byte*>(data), static_cast<std::size_t>(bytes)));
  for (std::int32_t index : by_hash_[{hash, bytes}])
    if (std::memcmp(chunks_[static_cast<std::size_t>(index)].data.get(), data, static_cast<std::size_t>(bytes)) == 0) return index;
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
