// Values for an engine's inputs.
#include "inputs.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <random>

#include "files.h"
#include "npz.h"
#include "tenfold/internal/shape_values.h"
#include "tensor_proto.h"

namespace tenfold::cli {
namespace {

bool named_like(const std::string& name, std::string_view word) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return std::search(name.begin(), name.end(), word.begin(), word.end(), same) != name.end();
}

// Bytes as a run has them, without a word on type or shape.
bool is_raw(const std::string& path) {
  const std::string end = extension(path);
  return end != ".npy" && end != ".npz" && end != ".pb";
}

[[noreturn]] void refuse(const BindingInfo& info, const std::string& path, const std::string& why) {
  throw Error(ErrorKind::io, "input '" + info.name + "' from " + path + ": " + why);
}

std::string member_name(const std::string& path, const std::string& input) { return path + "['" + input + "']"; }

NpyArray member(const std::string& bytes, const std::string& path, const std::string& input) {
  const std::map<std::string, NpyArray> arrays = parse_npz(bytes, path);
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

void fill_int(Tensor& t, std::mt19937& random, std::uint32_t limit, std::uint32_t least) {
  const int width = bits(t.dtype());
  auto* bytes = t.mutable_data<unsigned char>();
  for (std::int64_t i = 0; i < t.size(); ++i) {
    const std::uint64_t value = least + random() % limit;
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
    if (is_raw(path)) expect_readable(path);
    else if (!read[path]) read[path] = std::make_shared<const std::string>(read_whole(path));
  }
  if (const auto all = paths_.extract(""); !all.empty())
    for (const auto& [name, array] : parse_npz(*read[all.mapped()], all.mapped())) paths_.emplace(name, all.mapped());
  for (const auto& [input, path] : paths_)
    if (!is_raw(path)) bytes_[input] = read[path];
}

std::map<std::string, Shape> InputFiles::known_shapes() const {
  std::map<std::string, Shape> shapes;
  for (const auto& [input, bytes] : bytes_) {
    const std::string& path = paths_.at(input);
    if (extension(path) == ".npy") shapes[input] = parse_npy(*bytes, path).shape;
    if (extension(path) == ".npz") shapes[input] = member(*bytes, path, input).shape;
    if (extension(path) == ".pb") shapes[input] = parse_tensor_proto(*bytes, path).shape();
  }
  return shapes;
}

std::map<std::string, Tensor> InputFiles::known_tensors() const {
  std::map<std::string, Tensor> tensors;
  for (const auto& [input, bytes] : bytes_) {
    const std::string &path = paths_.at(input), end = extension(path);
    if (end == ".npy") tensors[input] = to_tensor(parse_npy(*bytes, path), path);
    if (end == ".npz") tensors[input] = to_tensor(member(*bytes, path, input), member_name(path, input));
    if (end == ".pb") tensors[input] = parse_tensor_proto(*bytes, path);
  }
  return tensors;
}

Tensor InputFiles::tensor(const BindingInfo& info, const Shape& shape) const {
  const std::string &path = paths_.at(info.name), end = extension(path);
  if (is_raw(path)) return raw_tensor(info, shape);
  const std::string& bytes = *bytes_.at(info.name);
  Tensor t;
  if (end == ".npy")
    t = to_tensor(parse_npy(bytes, path), info.dtype, path);
  else if (end == ".npz")
    t = to_tensor(member(bytes, path, info.name), info.dtype, member_name(path, info.name));
  else
    t = parse_tensor_proto(bytes, path);
  if (t.dtype() != info.dtype)
    refuse(info, path, "it holds " + std::string(name(t.dtype())) + ", the engine needs " + std::string(name(info.dtype)));
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
  const std::int64_t size = size_of_file(path);
  std::string bytes;
  if (size < 0 || size == fresh.bytes()) bytes = read_at_most(path, needed + 1);
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

std::vector<Shape> run_shapes(const Engine& engine, int profile, const std::map<std::string, Shape>& given, const InputFiles& files) {
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
                                const std::map<std::string, Shape>& given, const InputSet& sample) {
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
