// Int8Body: the body behind an int8 product, as recognize_int8_form() reads it. Values are numbered: inputs, then what the code makes.
#pragma once

#include <optional>
#include <vector>

#include "backends/cpu/tactics/int8/int8_form_common.h"

namespace tenfold::backends::cpu {

class Int8Body {
 public:
  Int8Body(const Problem& problem, int channel_axis) : problem_(problem), body_(*problem.body), axis_(channel_axis) {}

  int result() const { return body_.outputs[0]; }
  bool is_code(int value) const { return value >= static_cast<int>(body_.inputs.size()); }
  const ir::Instr& code(int value) const { return body_.code[static_cast<std::size_t>(value) - body_.inputs.size()]; }
  DType type_of(int value) const { return body_.type_of(value); }
  int only_user(int value) const;   // -1: there are none or several
  std::optional<double> number(int value) const;
  // A factor or summand for whole columns: a number or a small operand.
  std::optional<Int8Form::Term> term(int value) const;
  // Whether an input is as large as the output, and lies as it does.
  bool is_full(int input) const { return shape_of(input) == Shape::full; }
  // Whether an input holds one f32 for each row of the output, whose columns are its last dim.
  bool is_row(int value) const;
  // The first value that is the GELU of `x`, where nothing else uses x or what lies between; -1 if there is none.
  int gelu_of(int x) const;

 private:
  enum class Shape { one, column, row, full, other };   // how an input broadcasts to the output
  Shape shape_of(int input) const;
  std::vector<double> values_at(int leaf, double x) const;

  const Problem& problem_;
  const ir::Body& body_;
  int axis_;
};

}  // namespace tenfold::backends::cpu
