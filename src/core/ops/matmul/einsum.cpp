// Einsum: a sum of products over named dims, "bij,bjk->bik". Any number of operands, repeated labels and ellipsis.
#include <algorithm>
#include <map>
#include <optional>

#include "base/types/element.h"
#include "ir/fault.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

// A label for each dim: a letter, or kEllipsis plus the distance from the last dim that an ellipsis covers.
using Labels = std::vector<int>;
constexpr int kEllipsis = 1000;

struct Equation { std::vector<Labels> operands; Labels result; };

// The text of one operand or result; an ellipsis stands for `covered` dims.
Labels parse_term(std::string_view term, int covered) {
  Labels labels;
  bool ellipsis = false;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (term.substr(i, 3) == "...") {
      validate(!ellipsis, "'", term, "' has two ellipses");
      ellipsis = true;
      for (int k = covered; k-- > 0;) labels.push_back(kEllipsis + k);
      i += 2;
    } else {
      const char c = term[i];
      validate((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'), "'", c, "' in '", term, "' is no label");
      labels.push_back(c);
    }
  }
  return labels;
}

// Without "->" the result has the ellipsis, then every label that stands once, in order of the alphabet.
Labels implied_result(const std::vector<Labels>& operands, int covered) {
  std::map<int, int> uses;
  for (const Labels& labels : operands)
    for (int label : labels) ++uses[label];
  Labels result = parse_term("...", covered);
  for (const auto& [label, count] : uses)
    if (label < kEllipsis && count == 1) result.push_back(label);
  return result;
}

Equation parse(std::string equation, const std::vector<int>& ranks) {
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  std::string_view left = std::string_view(equation).substr(0, arrow);
  std::vector<std::string_view> terms;
  for (std::size_t comma; (comma = left.find(',')) != std::string_view::npos; left.remove_prefix(comma + 1))
    terms.push_back(left.substr(0, comma));
  terms.push_back(left);
  validate(terms.size() == ranks.size(), "'", equation, "' names ", terms.size(), " operands, the node has ", ranks.size());
  Equation parsed;
  int max_covered = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const bool ellipsis = terms[i].find("...") != std::string_view::npos;
    const int covered = ranks[i] - static_cast<int>(terms[i].size()) + (ellipsis ? 3 : 0);
    check_shape(ellipsis ? covered >= 0 : covered == 0, "'", terms[i], "' does not fit operand ", i, " of rank ", ranks[i]);
    max_covered = std::max(max_covered, covered);
    parsed.operands.push_back(parse_term(terms[i], covered));
  }
  parsed.result = arrow == std::string::npos ? implied_result(parsed.operands, max_covered)
                                             : parse_term(std::string_view(equation).substr(arrow + 2), max_covered);
  return parsed;
}

// The extent of each label; T is Dim or an integer behind it.
std::map<int, Dim> extents_of(const Equation& equation, const std::vector<Dims>& dims) {
  std::map<int, Dim> extents;
  for (std::size_t i = 0; i < dims.size(); ++i)
    for (std::size_t d = 0; d < dims[i].size(); ++d) {
      const auto [it, fresh] = extents.try_emplace(equation.operands[i][d], dims[i][d]);
      if (!fresh) it->second = broadcast(it->second, dims[i][d]);
    }
  for (std::size_t k = 0; k < equation.result.size(); ++k) {
    const int label = equation.result[k];
    validate(extents.count(label), "the result has a label that no operand has");
    validate(std::count(equation.result.begin(), equation.result.end(), label) == 1, "the result repeats a label");
  }
  return extents;
}

void infer(InferCall& call) {
  std::vector<int> ranks;
  std::vector<Dims> dims;
  for (int i = 0; i < call.inputs(); ++i) {
    ranks.push_back(call.rank(i));
    dims.push_back(call.dims(i));
  }
  const Equation equation = parse(call.attributes().string("equation"), ranks);
  const std::map<int, Dim> extents = extents_of(equation, dims);
  Dims result;
  for (int label : equation.result) result.push_back(extents.at(label));
  call.out(0, call.dtype(0), std::move(result));
}

// How far each operand moves when one of `labels` advances by one.
std::vector<Shape> strides_of(const Labels& labels, const Equation& equation, const std::vector<TensorRef>& in) {
  std::vector<Shape> strides;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Shape own = ops::row_major_strides(in[i].shape);
    Shape moved(labels.size(), 0);
    for (std::size_t k = 0; k < labels.size(); ++k)
      for (std::size_t d = 0; d < own.size(); ++d)
        if (equation.operands[i][d] == labels[k] && in[i].shape[d] != 1) moved[k] += own[d];
    strides.push_back(std::move(moved));
  }
  return strides;
}

std::int64_t dot(const Shape& index, const Shape& strides) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * strides[d];
  return offset;
}

void reference(Call& call) {
  std::vector<int> ranks;
  std::vector<Dims> dims;
  for (const TensorRef& operand : call.in) {
    ranks.push_back(static_cast<int>(operand.shape.size()));
    dims.push_back(to_dims(operand.shape));
  }
  const Equation equation = parse(call.attributes().string("equation"), ranks);
  Labels summed;
  Shape sum_shape;
  for (const auto& [label, extent] : extents_of(equation, dims)) {
    if (std::find(equation.result.begin(), equation.result.end(), label) != equation.result.end()) continue;
    summed.push_back(label);
    sum_shape.push_back(extent.constant());
  }
  const TensorRef& to = call.out[0];
  const std::vector<Shape> outer = strides_of(equation.result, equation, call.in), inner = strides_of(summed, equation, call.in);
  const bool whole = is_integer(to.dtype);
  ops::for_each_index(to.shape, [&](const Shape& place, std::int64_t result) {
    double real_sum = 0;
    std::uint64_t whole_sum = 0;
    ops::for_each_index(sum_shape, [&](const Shape& step, std::int64_t) {
      double real = 1;
      std::uint64_t product = 1;
      for (std::size_t i = 0; i < call.in.size(); ++i) {
        const std::int64_t at = dot(place, outer[i]) + dot(step, inner[i]);
        if (whole) product *= static_cast<std::uint64_t>(load_int(to.dtype, call.in[i].data, at));
        else real *= load_double(to.dtype, call.in[i].data, at);
      }
      real_sum += real;
      whole_sum += product;
    });
    if (whole) store_int(to.dtype, to.data, result, static_cast<std::int64_t>(whole_sum));
    else store_double(to.dtype, to.data, result, real_sum);
  });
}

}  // namespace

OpDef op_einsum() {
  return {.name = "Einsum",
          .max_inputs = -1,
          .types = "T... -> T; T: number",
          .attributes = {},
          .optional_attributes = "equation: string",
          .infer = infer,
          .reference = reference,
          .onnx_since = 12,
          .cases = {"f32[2,3,4] f32[2,4,5] equation=\"bij,bjk->bik\"", "f32[3,4] equation=\"ij->ji\"", "f32[3,3] equation=\"ii\"",
                    "f32[2,3,4,4] equation=\"...ii->...i\"", "f32[5] f32[5] equation=\"i,i->\"",
                    "i32[2,3] i32[3] i32[2] equation=\"ij,j,i\"", "f32[2,1,3,4] f32[5,4,2] equation=\"...ij,...jk->...ik\""}};
}

}  // namespace tenfold::ir
