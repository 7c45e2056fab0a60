// DimCode: a table of Dims compiled to postfix form, evaluated without allocation when shapes are set.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/dim.h"

namespace tenfold::ir {

class DimCode {
 public:
  DimCode() = default;
  // `symbols` fixes the order in which evaluate() takes their values. Throws if a Dim uses another symbol or is nested too deeply.
  DimCode(std::span<const Dim> dims, std::span<const std::string> symbols);
  // What stands in a symbol's place while a step has yet to define it: its upper bound, or nothing.
  enum class Known : std::uint8_t { value, bound, nothing };
  // out[i] = dims[i]. False on overflow, division by zero: then out is unspecified. `known` by symbol (empty: all are values):
  // a dim is 0 if it uses a symbol that is `nothing`, or if it cannot be computed from bounds.
  bool evaluate(std::span<const std::int64_t> symbols, std::span<std::int64_t> out, std::span<const Known> known = {}) const noexcept;
  std::size_t size() const { return ends_.size(); }

 private:
  enum class Op : std::uint8_t { constant, symbol, add, mul, floor_div, ceil_div, mod, min, max, equal, less };
  struct Instr { Op op; std::int64_t value; };
  void emit(Dim d, std::span<const std::string> symbols, int depth);
  static bool apply(Op op, std::int64_t a, std::int64_t b, std::int64_t& r) noexcept;
  std::vector<Instr> code_;
  std::vector<std::int32_t> ends_;   // of each Dim's instructions
};

}  // namespace tenfold::ir
