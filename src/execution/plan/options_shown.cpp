// From "name=value" to words; builder/options_text.cpp writes them.
#include "tenfold/internal/options_shown.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <sstream>

#include "base/check.h"

namespace tenfold {
namespace {

enum class Form { on_off, number, sources, bytes };
struct Known {
  const char *name, *initial, *shown;
  Form form;
};
constexpr Known kKnown[] = {
    {"fp16", "0", "fp16", Form::on_off},
    {"bf16", "0", "bf16", Form::on_off},
    {"int8", "1", "int8", Form::on_off},
    {"fp8", "1", "fp8", Form::on_off},
    {"tf32", "1", "tf32", Form::on_off},
    {"tf32_convolutions", "1", "tf32 of convolutions", Form::on_off},
    {"tf32_matmul", "1", "tf32 of GEMMs", Form::on_off},
    {"winograd", "1", "Winograd", Form::on_off},
    {"strassen", "1", "Strassen", Form::on_off},
    {"fast_exp", "1", "fast exp", Form::on_off},
    {"check_overflow", "1", "check of fp16 overflow", Form::on_off},
    {"refittable", "0", "refittable", Form::on_off},
    {"portable", "1", "portable graph", Form::on_off},
    {"random", "0", "random tactics", Form::number},
    {"pack", "0", "packed tokens", Form::number},
    {"level", "3", "optimization level", Form::number},
    {"max_tactics", "-1", "max tactics", Form::number},
    {"features", "0", "CPU features", Form::number},
    {"sources", "27", "tactic sources", Form::sources},
    {"workspace", "1099511627776", "workspace", Form::bytes},
};

std::string sources_text(std::uint32_t mask) {
  constexpr const char* kNames[] = {"reference", "native", "onednn", "cublas_lt", "cudnn"};
  std::string text;
  for (std::size_t i = 0; i < std::size(kNames); ++i)
    if (mask >> i & 1) text += cat(text.empty() ? "" : "+", kNames[i]);
  return text;
}

std::string shown(const std::string& name, const std::string& value) {
  const auto known = std::ranges::find_if(kKnown, [&](const Known& k) { return k.name == name; });
  if (known == std::end(kKnown)) return cat(name, " ", value);
  if (value == known->initial) return "";
  std::int64_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  switch (known->form) {
    case Form::on_off: return cat(value == "0" ? "no " : "", known->shown);
    case Form::sources: return cat(known->shown, " ", sources_text(static_cast<std::uint32_t>(number)));
    case Form::bytes: return cat(known->shown, " ", number >> 20, " MiB");
    case Form::number: break;
  }
  return cat(known->shown, " ", value);
}

}  // namespace

std::string options_shown(const std::string& options) {
  const std::size_t lists = std::min(options.find(';'), options.size());
  std::istringstream words(options.substr(0, lists));
  std::string text;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const std::string one = equals == std::string::npos ? word : shown(word.substr(0, equals), word.substr(equals + 1));
    if (!one.empty()) text += (text.empty() ? "" : ", ") + one;
  }
  return text + options.substr(lists);
}

}  // namespace tenfold
