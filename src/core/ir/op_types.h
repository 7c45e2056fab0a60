// OpTypes: the element types that an operator takes and gives, declared in one line.
//
//   T, Tind -> T; T: any; Tind: i32|i64      operands, results, and the types that each letter stands for
//   T, T... -> T; T: number                  the last operand may be repeated
//   T, float?, int? -> T; T: any             `?`: may be left out, though it is one of the first min_inputs or repeated (ir/signature.h)
//   bool, T, T -> T; T: any                  a set of types stands for itself
//   T, i64 -> *; T: float                    `*`: not declared, any value (a sequence, too), or a type that attributes decide
//
// All operands of one letter have one type. Sets are joined by `|`: names of types, and these words: any (all of them), dense (all but
// strings), number (floats and integers), float (of 4 bits and more), real (floats of 16 bits and more), int, uint, sint. Operands that
// a node leaves out are not looked at.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tenfold/tensor.h"

namespace tenfold::ir {

struct Node;

// A set of element types.
class TypeSet {
 public:
  TypeSet() = default;
  explicit TypeSet(std::uint32_t types) : types_(types) {}
  bool has(DType type) const { return (types_ >> static_cast<unsigned>(type) & 1) != 0; }
  std::uint32_t bits() const { return types_; }
  std::string text() const;   // in words: "i32 or i64", "floats"

 private:
  std::uint32_t types_ = 0;
};

class OpTypes {
 public:
  struct Slot {
    std::string letter;   // "": a set of its own
    TypeSet types;
    bool free = false;    // `*`
  };

  OpTypes() = default;
  OpTypes(const char* text);   // throws internal for what is no declaration
  bool declared() const { return !text_.empty(); }
  const std::string& text() const { return text_; }
  // Of operand or result i; null where the declaration has none.
  const Slot* operand(int i) const { return at(operands_, repeats_operand_, i); }
  const Slot* result(int i) const { return at(results_, repeats_result_, i); }

  // Throws a fault that names the operand of the node, what it is and what is expected. Operands of an epilogue are not looked at.
  void check_operands(const Node& node) const;
  // Throws internal where inference gave a result another type than is declared.
  void check_results(const Node& node) const;

 private:
  static const Slot* at(const std::vector<Slot>& slots, bool repeats, int i);
  int first_of(const Node& node, const Slot& slot, int own) const;   // the first of `own` operands that has the slot's letter, or `own`

  std::string text_;
  std::vector<Slot> operands_, results_;
  bool repeats_operand_ = false, repeats_result_ = false;
};

}  // namespace tenfold::ir
