// A row for each parameter: its name, what it takes, and what it sets.
#include "parameters.h"

#include <charconv>

#include "tenfold/device.h"
#include "tenfold/internal/nearest.h"

namespace tenfold::triton {
namespace {

[[noreturn]] void refuse(const std::string& parameter, const std::string& value, const std::string& expected) {
  throw Error(ErrorKind::invalid_argument, "parameter '" + parameter + "' is '" + value + "', expected " + expected);
}

std::vector<std::string> split(const std::string& text, const std::string& by) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t at; (at = text.find(by, from)) != std::string::npos; from = at + by.size())
    parts.push_back(text.substr(from, at - from));
  parts.push_back(text.substr(from));
  return parts;
}

std::int64_t number(const std::string& text) {   // -1: it is none
  std::int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0 ? value : -1;
}

Shape parse_shape(const std::string& text, const std::string& whole) {
  Shape shape;
  for (const std::string& extent : split(text, "x")) {
    shape.push_back(number(extent));
    if (shape.back() < 0) refuse("tenfold.profiles", whole, "shapes such as 1x16, not '" + text + "'");
  }
  return shape;
}

void set_precision(const std::string& value, ServedModelOptions& options) {
  BuildConfig& build = options.build;
  if (value == "fp32") build.tf32 = false;
  else if (value == "fp16") build.fp16 = true;
  else if (value == "bf16") build.bf16 = true;
  else if (value == "auto") build.auto_precision = true;
  else if (value != "tf32")
    refuse("tenfold.precision", value, "fp32, tf32, fp16, bf16 or auto (int8: quantize the model, tenfold quantize)");
}

void set_tune(const std::string& value, ServedModelOptions& options) {
  if (value == "now") options.tune = Tune::now;
  else if (value == "background") options.tune = Tune::background;
  else if (value == "never") options.tune = Tune::never;
  else refuse("tenfold.tune", value, "now, background or never");
}

void set_threads(const std::string& value, ServedModelOptions& options) {
  const std::int64_t threads = number(value);
  if (threads < 0 || threads > 256) refuse("tenfold.threads", value, "a number from 1 to 256, or 0 for as many as there are processors");
  options.build.threads = static_cast<int>(threads);
}

void set_pack_tokens(const std::string& value, ServedModelOptions& options) {
  if (value == "no") options.build.pack_tokens = PackTokens::no;
  else if (value == "where_equal") options.build.pack_tokens = PackTokens::where_equal;
  else if (value == "with_zeros") options.build.pack_tokens = PackTokens::with_zeros;
  else refuse("tenfold.pack_tokens", value, "no, where_equal or with_zeros");
}

void check_device(const std::string& value) {
  if (value != "cpu" && !is_gpu(value)) refuse("tenfold.device", value, "cpu or cuda:N");
}

std::int64_t max_batch_tokens(const std::string& value) {
  const std::int64_t tokens = number(value);
  if (tokens < 1) refuse("tenfold.max_batch_tokens", value, "a number from 1 on");
  return tokens;
}

const std::vector<std::string> kKnown = {"tenfold.precision", "tenfold.device", "tenfold.profiles", "tenfold.threads",
                                         "tenfold.tune",      "tenfold.pack_tokens", "tenfold.max_batch_tokens"};

[[noreturn]] void unknown(const std::string& parameter) {
  std::string list;
  for (const std::string& name : kKnown) list += (list.empty() ? "" : ", ") + name;
  const std::string near = nearest(parameter, kKnown);
  throw Error(ErrorKind::invalid_argument, "there is no parameter '" + parameter + "'" +
                                               (near.empty() ? "" : "; did you mean '" + near + "'?") + " There are: " + list);
}

}  // namespace

std::vector<OptimizationProfile> parse_profiles(const std::string& text) {
  std::vector<OptimizationProfile> profiles;
  for (const std::string& part : split(text, ";")) {
    OptimizationProfile profile;
    for (const std::string& input : split(part, ",")) {
      const std::size_t colon = input.rfind(':');   // names of inputs may have one
      if (colon == std::string::npos || colon == 0) refuse("tenfold.profiles", text, "INPUT:1x16..4x64..8x512, not '" + input + "'");
      const std::vector<std::string> shapes = split(input.substr(colon + 1), "..");
      if (shapes.size() > 3) refuse("tenfold.profiles", text, "at most three shapes for an input: least, usual, largest");
      const Shape min = parse_shape(shapes.front(), text), max = parse_shape(shapes.back(), text);
      profile[input.substr(0, colon)] = {min, shapes.size() == 3 ? parse_shape(shapes[1], text) : max, max};
    }
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

Parameters configure(const std::map<std::string, std::string>& parameters, ServedModelOptions& options) {
  Parameters own;
  for (const auto& [name, value] : parameters) {
    if (!name.starts_with("tenfold.")) continue;
    if (name == "tenfold.precision") set_precision(value, options);
    else if (name == "tenfold.tune") set_tune(value, options);
    else if (name == "tenfold.threads") set_threads(value, options);
    else if (name == "tenfold.pack_tokens") set_pack_tokens(value, options);
    else if (name == "tenfold.max_batch_tokens") own.max_batch_tokens = max_batch_tokens(value);
    else if (name == "tenfold.profiles") options.build.profiles = parse_profiles(value);
    else if (name == "tenfold.device") check_device(value), own.device = value, options.fallback = false;
    else unknown(name);
  }
  return own;
}

}  // namespace tenfold::triton
