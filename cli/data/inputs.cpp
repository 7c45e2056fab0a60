// Values for an engine's inputs.
#include "data/inputs.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <random>

#include "flags/flags.h"
#include "formats/arrays/convert.h"
#include "formats/arrays/npz.h"
#include "formats/arrays/tensor_proto.h"
#include "formats/files.h"
#include "tenfold/internal/shape_values.h"

namespace tenfold::cli {
namespace {

bool named_like(const std::string& name, std::string_view word) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return std::search(name.begin(), name.end(), word.begin(), word.end(), same) != name.end();
}

// Bytes as a run has them, without a word on type or shape.
bool is_raw(const std::string& path) {
  const std::string end = formats::extension(path);
  return end != ".npy" && end != ".npz" && end != ".pb";
}

[[noreturn]] void refuse(const BindingInfo& info, const std::string& path, const std::string& why) {
  throw Error(ErrorKind::io, "input '" + info.name + "' from " + path + ": " + why);
}

std::string member_name(const std::string& path, const std::string& input) { return path + "['" + input + "']"; }

using Arrays = std::map<std::string, formats::NpyArray>;

const formats::NpyArray& member(const Arrays& arrays, const std::string& path, const std::string& input) {
  const auto found = arrays.find(input);
  if (found != arrays.end()) return found->second;
  std::string names;
  for (const auto& [name, array] : arrays) names += (names.empty() ? "'" : ", '") + name + "'";
  throw Error(ErrorKind::io, path + " has no array '" + input + "'; it has " + (names.empty() ? "none" : names));
}

// The bits of a small float in a narrow format; enough for random values of ordinary size.
std::uint16_t half_bits(float value) {
  std::uint32_t u = 0;
  std::memcpy(&u, &value, 4);
  const int exponent = static_cast<int>(u >> 23 & 0xFF) - 127 + 15;
  const std::uint32_t sign = u >> 16 & 0x8000;
  return static_cast<std::uint16_t>(exponent <= 0 ? sign : sign | static_cast<std::uint32_t>(exponent) << 10 | (u >> 13 & 0x3FF));
}

void fill_float(Tensor& t, std::mt19937& random) {
  auto* bytes = t.mutable_data<unsigned char>();
  for (std::int64_t i = 0; i < t.size(); ++i) {
    const float value = static_cast<float>(random()) / 2147483648.0f - 1.0f;
    std::uint32_t u = 0;
    std::memcpy(&u, &value, 4);
    switch (t.dtype()) {
      case DType::f32: t.mutable_data<float>()[i] = value; break;
      case DType::f64: t.mutable_data<double>()[i] = value; break;
      case DType::f16: t.mutable_data<std::uint16_t>()[i] = half_bits(value); break;
      case DType::bf16: t.mutable_data<std::uint16_t>()[i] = static_cast<std::uint16_t>(u >> 16); break;
      default:
        if (i < t.bytes()) bytes[i] = static_cast<unsigned char>(random() & 0xB7);  // below 2 in magnitude
    }
  }
}

void fill_int(Tensor& t, std::mt19937& random, std::uint32_t limit, std::uint32_t min_value) {
  const int width = bits(t.dtype());
  auto* bytes = t.mutable_data<unsigned char>();
  for (std::int64_t i = 0; i < t.size(); ++i) {
    const std::uint64_t value = min_value + random() % limit;
    if (width >= 8)
      std::memcpy(bytes + i * width / 8, &value, static_cast<std::size_t>(width / 8));  // little-endian
    else
      bytes[i * width / 8] |= static_cast<unsigned char>((value & 1) << (i * width % 8));
  }
}

}  // namespace

InputFiles::InputFiles(const std::map<std::string, std::string>& files) : paths_(files) {
  std::map<std::string, std::shared_ptr<const std::string>> read;
  for (const auto& [input, path] : files) {
    if (is_raw(path)) formats::expect_readable(path);
    else if (!read[path]) read[path] = std::make_shared<const std::string>(formats::read_whole(path));
  }
  std::map<std::string, Arrays> archives;
  for (const auto& [path, bytes] : read)
    if (formats::extension(path) == ".npz") archives[path] = formats::parse_npz(*bytes, path);
  if (const auto all = paths_.find(""); all != paths_.end() && formats::extension(all->second) == ".npz") {
    const std::string archive = all->second;
    paths_.erase(all);
    for (const auto& [name, array] : archives[archive]) paths_.emplace(name, archive);
  }
  for (const auto& [input, path] : paths_) {
    if (is_raw(path)) continue;
    bytes_[input] = read[path];
    const std::string end = formats::extension(path);
    if (end == ".npy")
      arrays_[input] = {formats::parse_npy(*read[path], path), path};
    else if (end == ".npz")
      arrays_[input] = {member(archives[path], path, input), member_name(path, input)};
    else
      tensors_[input] = formats::parse_tensor_proto(*read[path], path);
  }
}

namespace {

std::string names_of_inputs(const std::vector<BindingInfo>& bindings) {
  std::string names;
  for (const BindingInfo& b : bindings)
    if (b.is_input) names += (names.empty() ? "'" : ", '") + b.name + "'";
  return names.empty() ? "none" : names;
}

const std::string& only_input(const std::string& given, const std::vector<BindingInfo>& bindings) {
  const BindingInfo* found = nullptr;
  for (const BindingInfo& b : bindings) {
    if (!b.is_input) continue;
    if (found) throw UsageError(given + " names no input, and there are several: " + names_of_inputs(bindings));
    found = &b;
  }
  if (!found) throw UsageError(given + " is for an input, and there is none");
  return found->name;
}

}  // namespace

std::map<std::string, Shape> with_names(std::map<std::string, Shape> shapes, const std::string& flag,
                                        const std::vector<BindingInfo>& bindings) {
  if (auto unnamed = shapes.extract(""); !unnamed.empty()) {
    unnamed.key() = only_input("--" + flag + "=" + text(unnamed.mapped()), bindings);
    if (!shapes.insert(std::move(unnamed)).inserted) throw UsageError("--" + flag + " gives the only input two shapes");
  }
  return shapes;
}

void InputFiles::name_the_file(const std::vector<BindingInfo>& bindings) {
  if (paths_.count("") == 0) return;
  const std::string& name = only_input("--loadInputs=" + paths_.at(""), bindings);
  const auto rename = [&](auto& by_input) {
    if (auto unnamed = by_input.extract(""); !unnamed.empty()) unnamed.key() = name, by_input.insert(std::move(unnamed));
  };
  rename(paths_), rename(bytes_), rename(arrays_), rename(tensors_);
}

void InputFiles::fit(const std::vector<BindingInfo>& bindings, const Console& console) {
  name_the_file(bindings);
  for (const auto& [input, path] : paths_) {
    const auto is_it = [&, &input = input](const BindingInfo& b) { return b.name == input; };
    const auto info = std::find_if(bindings.begin(), bindings.end(), is_it);
    if (info == bindings.end())
      throw Error(ErrorKind::invalid_argument,
                  "--loadInputs: the model has no input '" + input + "'; its inputs are: " + names_of_inputs(bindings));
    if (!info->is_input) throw Error(ErrorKind::invalid_argument, "'" + input + "' is an output; shapes and values are given for inputs");
    if (const auto array = arrays_.find(input); array != arrays_.end()) {
      formats::Converted made = formats::converted_to(array->second.array, info->dtype, array->second.what);
      if (!made.reported.empty()) console.info("input '" + input + "' from " + made.reported);
      tensors_[input] = std::move(made.tensor);
      arrays_.erase(array);
    }
    const auto tensor = tensors_.find(input);
    if (tensor == tensors_.end()) continue;
    expect_type(*info, tensor->second);
    if (const std::optional<Shape> longer = formats::with_leading_axes(tensor->second.shape(), info->shape)) {
      console.info("input '" + input + "' from " + path + ": " + text(tensor->second.shape()) + " is taken as " + text(*longer));
      tensor->second = tensor->second.dtype() == DType::string ? Tensor::strings(*longer, tensor->second.string_values())
                                                               : tensor->second.reshaped(*longer);
    }
  }
}

void InputFiles::expect_type(const BindingInfo& info, const Tensor& t) const {
  if (t.dtype() != info.dtype)
    refuse(info, paths_.at(info.name), "it holds " + std::string(name(t.dtype())) + ", the engine needs " + std::string(name(info.dtype)));
}

void InputFiles::expect_shapes(const std::vector<BindingInfo>& bindings, const std::vector<OptimizationProfile>& profiles) const {
  const std::map<std::string, Shape> known = known_shapes();
  for (const BindingInfo& b : bindings) {
    const auto found = known.find(b.name);
    if (found == known.end() || !b.is_input) continue;
    const Shape& shape = found->second;
    bool fits = shape.size() == b.shape.size();
    for (std::size_t d = 0; fits && d < shape.size(); ++d) fits = b.shape[d] < 0 || b.shape[d] == shape[d];
    if (!fits) refuse(b, paths_.at(b.name), "its shape is " + text(shape) + ", the model takes " + text(b.shape) + " (-1: any length)");
    bool covered = profiles.empty();
    std::string ranges;
    for (const OptimizationProfile& profile : profiles) {
      const auto at = profile.find(b.name);
      if (at == profile.end() || gives_values(b.dtype, b.shape, at->second.opt)) covered = true;
      if (covered) break;
      const ShapeRange& range = at->second;
      bool inside = range.min.size() == shape.size() && range.max.size() == shape.size();
      for (std::size_t d = 0; inside && d < shape.size(); ++d) inside = range.min[d] <= shape[d] && shape[d] <= range.max[d];
      covered = inside;
      ranges += (ranges.empty() ? "" : "; ") + text(range.min) + (range.min == range.max ? "" : " to " + text(range.max));
    }
    if (!covered)
      refuse(b, paths_.at(b.name), "its shape is " + text(shape) + "; --shapes, or --minShapes and --maxShapes, give " + ranges);
  }
}

std::map<std::string, Shape> InputFiles::known_shapes() const {
  std::map<std::string, Shape> shapes;
  for (const auto& [input, array] : arrays_) shapes[input] = array.array.shape;
  for (const auto& [input, tensor] : tensors_) shapes[input] = tensor.shape();
  shapes.erase("");   // nobody knows yet whose it is
  return shapes;
}

std::map<std::string, Tensor> InputFiles::known_tensors() const {
  std::map<std::string, Tensor> tensors = tensors_;
  for (const auto& [input, array] : arrays_) tensors[input] = formats::to_tensor(array.array, array.what);
  return tensors;
}

Tensor InputFiles::tensor(const BindingInfo& info, const Shape& shape) const {
  const std::string& path = paths_.at(info.name);
  if (is_raw(path)) return raw_tensor(info, shape);
  const auto array = arrays_.find(info.name);
  const Tensor t =
      array == arrays_.end() ? tensors_.at(info.name) : formats::to_tensor(array->second.array, info.dtype, array->second.what);
  expect_type(info, t);
  if (t.shape() != shape) refuse(info, path, "its shape is " + text(t.shape()) + ", the run needs " + text(shape));
  return t;
}

// One byte more than is needed tells of a wrong size, also of what never ends.
Tensor InputFiles::raw_tensor(const BindingInfo& info, const Shape& shape) const {
  const std::string& path = paths_.at(info.name);
  if (info.dtype == DType::string) refuse(info, path, "strings come from .npy or .npz");
  Tensor& t = raw_[info.name];
  if (t.defined() && t.shape() == shape && t.dtype() == info.dtype) return t;
  Tensor fresh(info.dtype, shape);
  const auto needed = static_cast<std::size_t>(fresh.bytes());
  const std::int64_t size = formats::size_of_file(path);
  std::string bytes;
  if (size < 0 || size == fresh.bytes()) bytes = formats::read_at_most(path, needed + 1);
  if (bytes.size() != needed) {
    const std::string has = size >= 0 ? std::to_string(size) : bytes.size() > needed ? "more than " + std::to_string(needed)
                                                                                     : std::to_string(bytes.size());
    refuse(info, path,
           "it has " + has + " bytes; " + std::string(name(info.dtype)) + "[" + text(shape) + "] needs " + std::to_string(needed));
  }
  if (!bytes.empty()) std::memcpy(fresh.mutable_raw(), bytes.data(), bytes.size());
  return t = fresh;
}

Tensor random_input(const BindingInfo& info, const Shape& shape) {
  Tensor t(info.dtype, shape);
  if (info.dtype == DType::string) return t;
  std::uint32_t seed = 2166136261u;  // of the name, so that inputs differ and runs agree
  for (const char c : info.name) seed = (seed ^ static_cast<unsigned char>(c)) * 16777619u;
  std::mt19937 random(seed);
  const bool choice =
      info.dtype == DType::boolean || bits(info.dtype) < 8 || named_like(info.name, "type_id") || named_like(info.name, "segment");
  if (is_float(info.dtype))
    fill_float(t, random);
  else if (named_like(info.name, "mask"))
    fill_int(t, random, 1, 1);
  else
    fill_int(t, random, choice ? 2 : 100, 0);
  return t;
}

std::vector<Shape> run_shapes(const Engine& engine, int profile, const std::map<std::string, Shape>& requested, const InputFiles& files) {
  const std::map<std::string, Shape> given = with_names(requested, "shapes", engine.bindings());
  const std::map<std::string, Shape> known = files.known_shapes();
  std::vector<Shape> shapes;
  std::map<std::string, std::int64_t> settled;   // sizes that have a name, by what is given
  const auto expect_input = [&](const std::string& name) {
    if (!engine.bindings()[static_cast<std::size_t>(engine.binding_index(name))].is_input)
      throw Error(ErrorKind::invalid_argument, "'" + name + "' is an output; shapes and values are given for inputs");
  };
  for (const auto& [input, shape] : given) expect_input(input);
  for (const auto& [input, path] : files.paths()) expect_input(input);
  for (const auto* named : {&known, &given})
    for (const auto& [input, shape] : *named) {
      const BindingInfo& b = engine.bindings()[static_cast<std::size_t>(engine.binding_index(input))];
      for (std::size_t d = 0; d < b.names.size() && shape.size() == b.shape.size(); ++d)
        if (!b.names[d].empty() && !gives_values(b.dtype, b.shape, shape)) settled[b.names[d]] = shape[d];
    }
  for (const BindingInfo& b : engine.bindings()) {
    if (!b.is_input) continue;
    const bool dynamic = std::find(b.shape.begin(), b.shape.end(), -1) != b.shape.end();
    const auto at = given.find(b.name);
    if (at != given.end() && !gives_values(b.dtype, b.shape, at->second))
      shapes.push_back(at->second);
    else if (const auto file = known.find(b.name); file != known.end() && dynamic)
      shapes.push_back(file->second);
    else
      shapes.push_back(dynamic ? engine.profile_shapes(std::max(profile, 0), b.name).opt : b.shape);
    if (at != given.end() || known.count(b.name)) continue;
    for (std::size_t d = 0; d < b.names.size(); ++d)
      if (const auto size = settled.find(b.names[d]); size != settled.end()) shapes.back()[d] = size->second;
  }
  return shapes;
}

namespace {
Tensor of_values(const BindingInfo& info, const Shape& values) {
  Tensor t(info.dtype, info.shape);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (info.dtype == DType::i64)
      t.mutable_data<std::int64_t>()[i] = values[i];
    else
      t.mutable_data<std::int32_t>()[i] = static_cast<std::int32_t>(values[i]);
  }
  return t;
}

// The element at a place is the sample's at that place modulo its sizes.
Tensor spread(const Tensor& sample, const Shape& shape) {
  if (sample.shape() == shape) return sample;
  Tensor t(sample.dtype(), shape);
  const std::int64_t width = bits(t.dtype()) / 8;
  std::vector<std::int64_t> at(shape.size(), 0);
  for (std::int64_t i = 0; i < t.size(); ++i) {
    std::int64_t from = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) from = from * sample.shape()[d] + at[d] % sample.shape()[d];
    std::memcpy(static_cast<char*>(t.mutable_raw()) + i * width, static_cast<const char*>(sample.raw()) + from * width,
                static_cast<std::size_t>(width));
    for (std::size_t d = shape.size(); d-- > 0 && ++at[d] == shape[d];) at[d] = 0;
  }
  return t;
}

}  // namespace

bool gives(const InputSet& sample, const BindingInfo& info) {
  const auto at = sample.find(info.name);
  return at != sample.end() && at->second.dtype() == info.dtype && info.dtype != DType::string && bits(info.dtype) >= 8 &&
         at->second.shape().size() == info.shape.size() && at->second.size() > 0;
}

std::vector<Tensor> make_inputs(const Engine& engine, const std::vector<Shape>& shapes, const InputFiles& files,
                                const std::map<std::string, Shape>& requested, const InputSet& sample) {
  const std::map<std::string, Shape> given = with_names(requested, "shapes", engine.bindings());
  std::vector<Tensor> inputs;
  for (const BindingInfo& b : engine.bindings()) {
    if (!b.is_input) continue;
    const Shape& shape = shapes[inputs.size()];
    const auto at = given.find(b.name);
    if (files.has(b.name))
      inputs.push_back(files.tensor(b, shape));
    else if (at != given.end() && gives_values(b.dtype, b.shape, at->second))
      inputs.push_back(of_values(b, at->second));
    else if (b.has_default)
      inputs.push_back(Tensor());
    else if (gives(sample, b))
      inputs.push_back(spread(sample.at(b.name), shape));
    else
      inputs.push_back(random_input(b, shape));
  }
  return inputs;
}

}  // namespace tenfold::cli
