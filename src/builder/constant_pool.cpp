// Storing constants once.
#include "builder/constant_pool.h"

#include <cstring>

#include "base/check.h"
#include "base/checked.h"
#include "base/hash.h"
#include "ir/op_def.h"
#include "ir/recipe.h"

namespace tenfold::builder {

namespace {

std::uint64_t hash_of(const void* data, std::int64_t bytes) {
  return hash64(std::span(static_cast<const std::byte*>(data), static_cast<std::size_t>(bytes)));
}

}  // namespace

std::string RefitKeys::of(const SharedConstant& constant) { return ir::may_change(*constant) ? full(constant) : ""; }

std::string RefitKeys::full(const SharedConstant& constant) {
  if (const auto it = known_.find(constant); it != known_.end()) return it->second;
  const Tensor& t = constant->tensor;
  std::string key;
  if (const ir::Weight* weight = ir::weight_of(*constant)) {
    key = "weight " + weight->name;
  } else if (constant->recipe) {
    const ir::Recipe& r = *constant->recipe;
    key = cat(r.def->name, " ", ir::text(r.attributes), r.body ? ir::text(*r.body) : "", " ", r.outputs, " ", r.output);
    for (const SharedConstant& operand : r.operands) key += operand ? " (" + full(operand) + ")" : " _";
  } else {
    key = cat(name(t.dtype()), text(t.shape()), " ", hash_of(t.raw(), t.bytes()));
  }
  const Hash128 hash = hash128(key);
  return known_[constant] = cat(hash.high, ".", hash.low);
}

std::int32_t ConstantPool::find(const void* data, std::int64_t bytes, const Key& key) const {
  const auto same_key = by_content_.find(key);
  if (same_key == by_content_.end()) return -1;
  for (std::int32_t index : same_key->second)
    if (std::memcmp(chunks_[static_cast<std::size_t>(index)].data.get(), data, static_cast<std::size_t>(bytes)) == 0) return index;
  return -1;
}

ConstantPool::Place ConstantPool::find(const SharedConstant& constant) {
  const Tensor& t = constant->tensor;
  const Key key{hash_of(t.raw(), t.bytes()), t.bytes(), keys_.of(constant)};
  if (const auto packed = packed_.find(key); packed != packed_.end()) return {packed->second, true};
  return {find(t.raw(), t.bytes(), key), false};
}

std::int32_t ConstantPool::add(const std::string& name, const SharedConstant& constant) {
  const std::string key = keys_.of(constant);
  return add(name, constant->tensor.raw(), constant->tensor.bytes(), key, key.empty() ? nullptr : constant);
}

std::int32_t ConstantPool::add_packed(const std::string& name, const std::vector<SharedConstant>& operands, int input, const Tensor& packed,
                                      const std::string& packing) {
  const SharedConstant& original = operands[static_cast<std::size_t>(input)];
  std::string key;
  for (const SharedConstant& operand : operands)
    if (operand && ir::may_change(*operand)) key += keys_.of(operand) + " ";
  if (!key.empty()) key += packing;
  const std::int32_t index = add(name, packed.raw(), packed.bytes(), key, key.empty() ? nullptr : original);
  const Tensor& t = original->tensor;
  packed_.try_emplace({hash_of(t.raw(), t.bytes()), t.bytes(), keys_.of(original)}, index);   // any packing will do
  return index;
}

std::int32_t ConstantPool::add(const std::string& name, const void* data, std::int64_t bytes, const std::string& refit_key,
                               SharedConstant origin) {
  const Key key{hash_of(data, bytes), bytes, refit_key};
  if (const std::int32_t known = find(data, bytes, key); known >= 0) return known;
  Chunk chunk{std::shared_ptr<std::byte[]>(new std::byte[static_cast<std::size_t>(bytes)]), bytes};
  std::memcpy(chunk.data.get(), data, static_cast<std::size_t>(bytes));
  const auto index = static_cast<std::int32_t>(constants_.size());
  const std::int64_t offset = constants_.empty() ? 0 : round_up(constants_.back().offset + constants_.back().bytes, 64);
  constants_.push_back({name, offset, bytes, std::get<0>(key)});
  chunks_.push_back(std::move(chunk));
  origins_.push_back(std::move(origin));
  by_content_[key].push_back(index);
  return index;
}

void ConstantPool::move_into(plan::Plan& plan) {
  const std::int64_t total = constants_.empty() ? 0 : round_up(constants_.back().offset + constants_.back().bytes, 64);
  Tensor storage(DType::u8, {total});
  for (std::size_t i = 0; i < constants_.size(); ++i) {
    std::memcpy(static_cast<std::byte*>(storage.mutable_raw()) + constants_[i].offset, chunks_[i].data.get(),
                static_cast<std::size_t>(chunks_[i].bytes));
    chunks_[i].data.reset();   // at most one constant is held twice at a time
  }
  plan.constants = std::move(constants_);
  plan.weights = static_cast<const std::byte*>(storage.raw());
  plan.weights_bytes = total;
  plan.weights_owner = std::make_shared<Tensor>(std::move(storage));
}

}  // namespace tenfold::builder
