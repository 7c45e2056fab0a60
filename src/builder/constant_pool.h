// The constants of a plan as they grow: equal bytes are stored once, also across programs, unless a refit could make them differ.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "ir/graph.h"
#include "plan/plan.h"

namespace tenfold::builder {

using SharedConstant = std::shared_ptr<const ir::Constant>;

// What a constant is made of, down to names of weights: equal keys stay equal through every refit.
class RefitKeys {
 public:
  std::string of(const SharedConstant& constant);   // empty: it is what it is

 private:
  std::string full(const SharedConstant& constant);
  std::map<SharedConstant, std::string> known_;
};

class ConstantPool {
 public:
  // Bytes that no weight is behind.
  std::int32_t add(const std::string& name, const void* data, std::int64_t bytes) { return add(name, data, bytes, "", nullptr); }
  std::int32_t add(const std::string& name, const SharedConstant& constant);
  // Constant `input` of `operands` in a tactic's packing, which may depend on the others; `packing` names tactic and configuration.
  std::int32_t add_packed(const std::string& name, const std::vector<SharedConstant>& operands, int input, const Tensor& packed,
                          const std::string& packing);
  // Where a constant is stored: index and whether packed; -1 if no step reads it.
  struct Place { std::int32_t index = -1; bool packed = false; };
  Place find(const SharedConstant& constant);
  // By constant: what it was before packing; null where no weight is behind it.
  const std::vector<SharedConstant>& origins() const { return origins_; }
  void move_into(plan::Plan& plan);

 private:
  using Key = std::tuple<std::uint64_t, std::int64_t, std::string>;   // hash and number of bytes, refit key
  struct Chunk { std::shared_ptr<std::byte[]> data; std::int64_t bytes; };
  std::int32_t add(const std::string& name, const void* data, std::int64_t bytes, const std::string& key, SharedConstant origin);
  std::int32_t find(const void* data, std::int64_t bytes, const Key& key) const;

  RefitKeys keys_;
  std::vector<plan::Constant> constants_;
  std::vector<Chunk> chunks_;
  std::vector<SharedConstant> origins_;
  std::map<Key, std::vector<std::int32_t>> by_content_;
  std::map<Key, std::int32_t> packed_;       // the original's -> constant
};

}  // namespace tenfold::builder
