// The constants of a plan as they grow: equal bytes are stored once, also across programs, unless a refit could make them differ.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
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
  std::map<std::shared_ptr<const void>, std::string> known_;  // by the recipe, which several constants may share; else by the constant
};

class ConstantPool {
 public:
  std::int32_t add(const std::string& name, const SharedConstant& constant);
  std::int32_t add_literal(const SharedConstant& constant);   // strings; their index among the literals
  // Constant `input` of `operands` in a tactic's packing, which may depend on the others; `packing` names tactic and configuration.
  struct ToPack {
    std::string name;
    std::vector<SharedConstant> operands;
    int input = 0;
    std::int64_t bytes = 0;
    std::string packing;
    bool rounds = false;   // it may not give back every bit
    std::function<void(void* zeroed)> pack;
  };
  // The index of each. They are packed concurrently, right where they will stay.
  std::vector<std::int32_t> add(std::span<const ToPack> all);
  // Where a constant is stored exactly; else all packings of it that may have rounded it; nothing if no step reads it.
  struct Place { std::int32_t index = -1; bool packed = false, rounded = false; };
  std::vector<Place> find(const SharedConstant& constant);
  const std::byte* bytes_of(std::int32_t index) const { return at(constants_[static_cast<std::size_t>(index)].offset); }
  // By constant: what it was before packing; null where no weight is behind it.
  const std::vector<SharedConstant>& origins() const { return origins_; }
  void move_into(plan::Plan& plan);

 private:
  using Key = std::tuple<std::uint64_t, std::int64_t, std::string>;   // hash and number of bytes, refit key
  std::int32_t add(const std::string& name, const void* data, std::int64_t bytes, std::uint64_t hash, const std::string& refit_key,
                   SharedConstant origin);
  std::vector<std::int32_t> add_batch(std::span<const ToPack> batch);
  std::int32_t add_packed(const ToPack& one, void* packed, std::uint64_t hash);
  void* space(std::int64_t bytes);   // behind the last constant: zeros, unless something waits there to be added
  std::int32_t find(const void* data, std::int64_t bytes, const Key& key) const;
  Key key_of(const SharedConstant& constant);   // hashes its bytes once
  static std::string with_type(std::string key, const Tensor& t);
  std::byte* at(std::int64_t offset) const { return static_cast<std::byte*>(memory_.get()) + offset; }
  std::int64_t end() const;      // where the next constant begins

  RefitKeys keys_;
  std::shared_ptr<void> memory_;   // of all constants, as a plan holds them
  std::int64_t capacity_ = 0;
  std::vector<plan::Constant> constants_;
  std::vector<SharedConstant> origins_, literals_;
  std::map<Key, std::vector<std::int32_t>> by_content_;
  std::map<std::weak_ptr<const ir::Constant>, std::uint64_t, std::owner_less<>> hashes_;   // of constants that a program still has
  std::map<Key, std::vector<Place>> packed_;   // by the original's and its type; one where it is exact
};

}  // namespace tenfold::builder
