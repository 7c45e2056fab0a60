// Storing constants once.
#include "builder/program/constant_pool.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/checked.h"
#include "base/files/hash.h"
#include "base/files/huge_memory.h"
#include "base/memory_limit.h"
#include "base/threads/spread.h"
#include "ir/op_def.h"
#include "ir/recipe.h"

namespace tenfold::builder {

namespace {

constexpr const char* kForWeights = "memory for the weights of the plan";

std::uint64_t hash_of(const void* data, std::int64_t bytes) {
  return hash64(std::span(static_cast<const std::byte*>(data), static_cast<std::size_t>(bytes)));
}

}  // namespace

std::string RefitKeys::of(const SharedConstant& constant) { return ir::may_change(*constant) ? full(constant) : ""; }

std::string RefitKeys::full(const SharedConstant& constant) {
  const std::shared_ptr<const void> what = constant->recipe ? std::shared_ptr<const void>(constant->recipe) : constant;
  if (const auto it = known_.find(what); it != known_.end()) return it->second;
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
  return known_[what] = cat(hash.high, ".", hash.low);
}

// A packing is of one shape, whatever other weight has the same bytes.
std::string ConstantPool::with_type(std::string key, const Tensor& t) { return cat(key, " ", name(t.dtype()), text(t.shape())); }

std::int32_t ConstantPool::find(const void* data, std::int64_t bytes, const Key& key) const {
  const auto same_key = by_content_.find(key);
  if (same_key == by_content_.end()) return -1;
  for (std::int32_t index : same_key->second)
    if (bytes == 0 || std::memcmp(at(constants_[static_cast<std::size_t>(index)].offset), data, static_cast<std::size_t>(bytes)) == 0)
      return index;   // what is empty may have no address
  return -1;
}

ConstantPool::Key ConstantPool::key_of(const SharedConstant& constant) {
  const Tensor& t = constant->tensor;
  const auto [at, added] = hashes_.try_emplace(constant, 0);
  if (added) at->second = hash_of(t.raw(), t.bytes());
  return {at->second, t.bytes(), keys_.of(constant)};
}

std::vector<ConstantPool::Place> ConstantPool::find(const SharedConstant& constant) {
  const Tensor& t = constant->tensor;
  const Key key = key_of(constant);
  const auto packed = packed_.find({std::get<0>(key), std::get<1>(key), with_type(std::get<2>(key), t)});
  if (packed != packed_.end() && !packed->second.front().rounded) return packed->second;
  const std::int32_t plain = find(t.raw(), t.bytes(), key);
  if (plain >= 0) return {{.index = plain}};
  return packed == packed_.end() ? std::vector<Place>() : packed->second;
}

std::int32_t ConstantPool::add(const std::string& name, const SharedConstant& constant) {
  const Tensor& t = constant->tensor;
  const std::string key = keys_.of(constant);
  return add(name, t.raw(), t.bytes(), hash_of(t.raw(), t.bytes()), key, key.empty() ? nullptr : constant);
}

std::vector<std::int32_t> ConstantPool::add(std::span<const ToPack> all) {
  constexpr std::int64_t kBatch = 64 << 20;   // bytes beyond which nothing waits: what is equal to another needs memory until it is seen
  std::vector<std::int32_t> indices;
  while (!all.empty()) {
    std::int64_t bytes = 0;
    std::size_t count = 0;
    while (count < all.size() && (count == 0 || bytes + all[count].bytes <= kBatch)) bytes += all[count++].bytes;
    const std::vector<std::int32_t> batch = add_batch(all.first(count));
    indices.insert(indices.end(), batch.begin(), batch.end());
    all = all.subspan(count);
  }
  return indices;
}

std::vector<std::int32_t> ConstantPool::add_batch(std::span<const ToPack> batch) {
  std::vector<std::int64_t> offsets;
  std::vector<std::size_t> order(batch.size());   // large ones first, so that none is left over for one thread
  std::vector<std::pair<const ir::Constant*, std::uint64_t*>> unknown;   // originals, to be hashed meanwhile
  std::int64_t bytes = 0;
  for (const ToPack& one : batch) {
    order[offsets.size()] = offsets.size();
    offsets.push_back(bytes);
    bytes = checked_add(bytes, round_up(one.bytes, 64));
    const SharedConstant& original = one.operands[static_cast<std::size_t>(one.input)];
    if (const auto [at, added] = hashes_.try_emplace(original, 0); added) unknown.emplace_back(original.get(), &at->second);
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return batch[a].bytes > batch[b].bytes; });
  expect_memory(bytes, kForWeights);
  auto* const memory = static_cast<std::byte*>(space(bytes));
  std::vector<std::uint64_t> hashes(batch.size());
  spread(static_cast<std::int64_t>(batch.size() + unknown.size()), 2 * bytes, [&](std::int64_t part) {
    if (const auto i = static_cast<std::size_t>(part); i >= batch.size()) {
      const auto& [constant, hash] = unknown[i - batch.size()];
      *hash = hash_of(constant->tensor.raw(), constant->tensor.bytes());
    } else {
      const std::size_t one = order[i];
      batch[one].pack(memory + offsets[one]);
      hashes[one] = hash_of(memory + offsets[one], batch[one].bytes);
    }
  });
  std::vector<std::int32_t> indices;
  for (std::size_t i = 0; i < batch.size(); ++i) indices.push_back(add_packed(batch[i], memory + offsets[i], hashes[i]));
  clear_pages(at(end()), memory + bytes);   // where equal ones were stored once
  return indices;
}

std::int32_t ConstantPool::add_packed(const ToPack& one, void* packed, std::uint64_t hash) {
  const SharedConstant& original = one.operands[static_cast<std::size_t>(one.input)];
  std::string key;
  for (const SharedConstant& operand : one.operands)
    if (operand && ir::may_change(*operand)) key += keys_.of(operand) + " ";
  if (!key.empty()) key += one.packing;
  const std::int32_t index = add(one.name, packed, one.bytes, hash, key, key.empty() ? nullptr : original);
  Key whose = key_of(original);
  std::get<2>(whose) = with_type(std::get<2>(whose), original->tensor);
  std::vector<Place>& places = packed_[std::move(whose)];
  const bool exact = !places.empty() && !places.front().rounded, known = std::ranges::count(places, index, &Place::index) > 0;
  if (!exact && !one.rounds) places = {{index, true}};
  else if (!exact && !known) places.push_back({index, true, true});
  return index;
}

std::int64_t ConstantPool::end() const {
  return constants_.empty() ? 0 : round_up(constants_.back().offset + constants_.back().bytes, 64);
}

void* ConstantPool::space(std::int64_t bytes) {
  const std::int64_t requested = checked_add(end(), bytes);
  if (requested > capacity_) {
    // Far more than is known to be needed: only what is touched costs memory, and growing costs a copy.
    std::shared_ptr<void> larger;
    for (capacity_ = std::max<std::int64_t>(2 * requested, 1 << 30); !larger && capacity_ >= requested; capacity_ /= 2) {
      larger = map_huge(capacity_);
      if (larger) break;
    }
    require(larger != nullptr, ErrorKind::out_of_memory, "cannot allocate ", requested, " bytes for the weights of the plan");
    if (memory_) std::memcpy(larger.get(), memory_.get(), static_cast<std::size_t>(end()));
    memory_ = std::move(larger);
  }
  return at(end());
}

std::int32_t ConstantPool::add(const std::string& name, const void* data, std::int64_t bytes, std::uint64_t hash,
                               const std::string& refit_key, SharedConstant origin) {
  const Key key{hash, bytes, refit_key};
  if (const std::int32_t known = find(data, bytes, key); known >= 0) return known;
  const bool packed_here = data >= at(0) && data < at(capacity_);
  if (!packed_here) expect_memory(bytes, kForWeights);
  auto* const place = static_cast<std::byte*>(space(bytes));
  if (place != data && bytes > 0) {   // perhaps packed a little further on
    std::memmove(place, data, static_cast<std::size_t>(bytes));
    std::memset(place + bytes, 0, static_cast<std::size_t>(round_up(bytes, 64) - bytes));
  }
  const auto index = static_cast<std::int32_t>(constants_.size());
  constants_.push_back({name, end(), bytes, hash});
  origins_.push_back(std::move(origin));
  by_content_[key].push_back(index);
  return index;
}

std::int32_t ConstantPool::add_literal(const SharedConstant& constant) {
  const auto known = std::find(literals_.begin(), literals_.end(), constant);
  const auto index = static_cast<std::int32_t>(known - literals_.begin());
  if (known == literals_.end()) literals_.push_back(constant);
  return index;
}

void ConstantPool::move_into(plan::Plan& plan) {
  for (const SharedConstant& literal : literals_) plan.literals.push_back(literal->tensor);
  plan.weights_bytes = end();
  plan.weights = at(0);
  plan.weights_owner = std::move(memory_);
  plan.constants = std::move(constants_);
}

}  // namespace tenfold::builder
