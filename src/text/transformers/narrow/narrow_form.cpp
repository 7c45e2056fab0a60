#include <charconv>

#include "text/fail.h"
#include "text/transformers/narrow/narrow_weights.h"

namespace tenfold::transformers {

using tokenizing::fail;

namespace {

constexpr std::int64_t kUnit = 16;   // rows that kernels read at once

}  // namespace

std::string NarrowForm::text() const {
  if (fp4 != Fp4::none) return std::string(name(fp4));
  return "int" + std::to_string(bits) + (group > 0 ? ":g" + std::to_string(group) : "");
}

NarrowForm narrow_form(const std::string& text) {
  for (const Fp4 kind : {Fp4::mxfp4, Fp4::nvfp4})
    if (text == name(kind)) return {.bits = 4, .group = block_of(kind), .fp4 = kind};
  NarrowForm form;
  const auto colon = text.find(':');
  const std::string type = text.substr(0, colon), rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  bool right = type == "int4" || type == "int8";
  form.bits = type == "int8" ? 8 : 4;
  if (colon != std::string::npos) {
    const char* const end = rest.data() + rest.size();
    const auto read = rest.starts_with('g') ? std::from_chars(rest.data() + 1, end, form.group) : std::from_chars_result{rest.data(), {}};
    right = right && read.ec == std::errc{} && read.ptr == end && form.group > 0 && form.group <= 1 << 20 && form.group % kUnit == 0;
  }
  if (!right)
    fail(ErrorKind::invalid_argument, "weights is '" + text +
                                          "'; int4 or int8 was expected, or either with groups that share a scale, of "
                                          "a multiple of 16 inputs: int4:g32; or mxfp4, nvfp4");
  return form;
}

void check_group(std::int64_t group, std::int64_t in, const std::string& where) {
  if (group < 1 || (group < in && group % kUnit != 0))
    fail(ErrorKind::unsupported, where + ": groups of " + std::to_string(group) + " inputs share a scale; multiples of 16, and groups of "
                                 "all inputs (-1), are supported. Quantize the model in such groups");
}

}  // namespace tenfold::transformers
