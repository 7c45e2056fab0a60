// Decodes tensors: raw bytes, typed lists, packed narrow types, strings and external files.
#include "onnx_import/tensor_proto.h"

#include <charconv>
#include <cstring>

#include "base/checked.h"
#include "base/types/element.h"
#include "onnx_import/read_messages.h"
#include "ops/onnx_dtype.h"
#include "tenfold/internal/tensor_proto.h"

namespace tenfold::onnx_import {
namespace {

// The list that holds elements of this type when they are not raw bytes, and how many bytes of each entry are data.
enum class Field { float_data, int32_data, int64_data, double_data, uint64_data };
Field typed_field(DType type) {
  switch (type) {
    case DType::f32: return Field::float_data;
    case DType::f64: return Field::double_data;
    case DType::i64: return Field::int64_data;
    case DType::u32: case DType::u64: return Field::uint64_data;
    default: return Field::int32_data;
  }
}

// A boolean byte other than 0 or 1 is undefined behavior as a C++ bool, so such tensors are copied and cleaned.
bool clean(DType type, std::span<const std::byte> bytes) {
  if (type != DType::boolean) return true;
  std::byte seen{0};
  for (std::byte b : bytes) seen |= b;
  return seen <= std::byte{1};
}
Tensor cleaned(Tensor tensor) {
  auto* bytes = static_cast<std::uint8_t*>(tensor.mutable_raw());
  for (std::int64_t i = 0; tensor.dtype() == DType::boolean && i < tensor.size(); ++i) bytes[i] = bytes[i] != 0;
  return tensor;
}

// Keeps `width` low bytes of each entry: 2 for f16 in int32_data, 1 for packed int4, 4 for u32 in uint64_data, all for f32.
template <class Entry>
Tensor from_list(DType type, const Shape& shape, const std::vector<Entry>& list) {
  const std::int64_t needed = byte_size(type, element_count(shape));
  const std::size_t width = static_cast<std::size_t>(std::max(bits(type) / 8, 1));
  require(list.size() * width == static_cast<std::size_t>(needed), ErrorKind::invalid_model, "holds ", list.size(),
          " values of data, its shape [", text(shape), "] of ", name(type), " needs ", needed / static_cast<std::int64_t>(width));
  Tensor result(type, shape);
  auto* to = static_cast<std::uint8_t*>(result.mutable_raw());
  if (width == sizeof(Entry)) {
    if (needed > 0) std::memcpy(to, list.data(), static_cast<std::size_t>(needed));
  } else {
    for (const Entry& entry : list) {
      std::memcpy(to, &entry, width);   // little-endian: the low bytes come first
      to += width;
    }
  }
  return cleaned(std::move(result));
}

Tensor from_typed(DType type, const Shape& shape, const onnx::TensorProto& proto) {
  switch (typed_field(type)) {
    case Field::float_data: return from_list(type, shape, proto.float_data);
    case Field::double_data: return from_list(type, shape, proto.double_data);
    case Field::int64_data: return from_list(type, shape, proto.int64_data);
    case Field::uint64_data: return from_list(type, shape, proto.uint64_data);
    case Field::int32_data: return from_list(type, shape, proto.int32_data);
  }
  fail(ErrorKind::internal, "unknown tensor field");
}

Tensor from_strings(const Shape& shape, const onnx::TensorProto& proto) {
  const std::int64_t count = element_count(shape);
  require(count == static_cast<std::int64_t>(proto.string_data.size()), ErrorKind::invalid_model, "holds ", proto.string_data.size(),
          " strings, its shape [", text(shape), "] needs ", count);
  return Tensor::strings(shape, {proto.string_data.begin(), proto.string_data.end()});
}

Tensor copied(DType type, const Shape& shape, Bytes bytes) {
  Tensor result(type, shape);
  if (!bytes.empty()) std::memcpy(result.mutable_raw(), bytes.data(), bytes.size());
  return cleaned(std::move(result));
}

Tensor from_raw(DType type, const Shape& shape, Bytes bytes, DeferredCopies* later) {
  const std::int64_t needed = byte_size(type, element_count(shape));
  require(static_cast<std::int64_t>(bytes.size()) == needed, ErrorKind::invalid_model, "holds ", bytes.size(),
          " bytes of data, its shape [", text(shape), "] of ", name(type), " needs ", needed);
  if (later && type != DType::boolean && bytes.size() >= DeferredCopies::kWorth) return later->tensor(type, shape, bytes);
  return copied(type, shape, bytes);
}

// Borrowed from the file's bytes if aligned for the type, copied otherwise.
Tensor over_file(DType type, const Shape& shape, Bytes bytes, std::shared_ptr<const MappedFile> file) {
  const auto alignment = static_cast<std::uintptr_t>(std::max(bits(type) / 8, 1));
  const bool aligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment == 0;
  if (bytes.size() > 256 && aligned && clean(type, bytes)) return Tensor(type, shape, std::move(file), bytes.data());
  return copied(type, shape, bytes);
}

std::int64_t parse_number(const std::string& key, const std::string& text) {
  std::int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc{} && end == text.data() + text.size() && value >= 0, ErrorKind::invalid_model, "external data: ", key, " '",
          text, "' is not a count of bytes");
  return value;
}

Tensor from_file(DType type, const Shape& shape, const onnx::TensorProto& proto, ExternalData* files) {
  require(files != nullptr, ErrorKind::invalid_model, "external data is not allowed here");
  require(!proto.raw_data, ErrorKind::invalid_model, "has both raw and external data");
  std::string location;
  std::int64_t offset = 0, length = -1;
  for (const auto& entry : proto.external_data) {
    if (entry.key == "location") location = entry.value;
    else if (entry.key == "offset") offset = parse_number("offset", entry.value);
    else if (entry.key == "length") length = parse_number("length", entry.value);
    else require(entry.key == "checksum" || entry.key.rfind("prepacked", 0) == 0, ErrorKind::invalid_model,
                 "external data: unknown key '", entry.key, "'");
  }
  const std::int64_t needed = byte_size(type, element_count(shape));
  require(length < 0 || length == needed, ErrorKind::invalid_model, "external data: length ", length, ", its shape [", text(shape), "] of ",
          name(type), " needs ", needed);
  auto file = files->file(location);
  const auto size = static_cast<std::int64_t>(file->bytes().size());
  require(offset <= size && needed <= size - offset, ErrorKind::invalid_model, "external data: ", needed,
          " bytes at offset ", offset, " lie outside '", location, "', which has ", size);
  const auto bytes = file->bytes().subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(needed));
  return over_file(type, shape, bytes, file);
}

Tensor decode(const onnx::TensorProto& proto, ExternalData* files, DeferredCopies* later) {
  require(!proto.segment, ErrorKind::unsupported, "is stored in segments");
  const DType type = ops::dtype_from_onnx(proto.data_type);
  const Shape shape = tensor_shape(proto.dims);
  if (proto.data_location == 1) {
    require(type != DType::string, ErrorKind::invalid_model, "strings cannot be external data");
    return from_file(type, shape, proto, files);
  }
  require(proto.data_location == 0, ErrorKind::invalid_model, "data_location is ", proto.data_location, ", 0 or 1 was expected");
  if (type == DType::string) return from_strings(shape, proto);
  if (!proto.raw_data) return from_typed(type, shape, proto);
  const bool twice = !proto.float_data.empty() || !proto.int32_data.empty() || !proto.int64_data.empty() || !proto.double_data.empty() ||
                     !proto.uint64_data.empty();
  // Some writers set an empty raw_data beside a list.
  if (twice && proto.raw_data->empty()) return from_typed(type, shape, proto);
  require(!twice, ErrorKind::invalid_model, "has raw data and a list of values");
  return from_raw(type, shape, *proto.raw_data, later);
}

}  // namespace

Shape tensor_shape(const std::vector<std::int64_t>& dims) {
  require(static_cast<int>(dims.size()) <= kMaxRank, ErrorKind::invalid_model, "has ", dims.size(), " dimensions, at most ", kMaxRank,
          " are allowed");
  Shape shape(dims.begin(), dims.end());
  for (std::int64_t extent : shape) require(extent >= 0, ErrorKind::invalid_model, "has the extent ", extent, " in its shape");
  element_count(shape);
  return shape;
}

Tensor to_tensor(const onnx::TensorProto& proto, ExternalData* files, DeferredCopies* later) {
  try {
    return decode(proto, files, later);
  } catch (Error& error) {
    throw error.within(cat("tensor '", proto.name, "'"));
  }
}

Tensor to_tensor(const onnx::SparseTensorProto& proto, ExternalData* files) {
  require(proto.values && proto.indices, ErrorKind::invalid_model, "sparse tensor '", proto.name(), "' has no ",
          proto.values ? "indices" : "values");
  const Tensor values = to_tensor(*proto.values, files), indices = to_tensor(*proto.indices, files);
  const Shape shape = tensor_shape(proto.dims);
  const std::int64_t count = values.size(), rank = static_cast<std::int64_t>(shape.size());
  const bool linear = indices.rank() == 1;
  require(values.dtype() != DType::string && values.rank() == 1 && indices.dtype() == DType::i64, ErrorKind::invalid_model,
          "sparse tensor '", proto.name(), "': a list of numbers and i64 indices are expected");
  require(indices.shape() == (linear ? Shape{count} : Shape{count, rank}), ErrorKind::invalid_model, "sparse tensor '",
          proto.name(), "': ", count, " values, but indices of shape [", text(indices.shape()), "]");
  // The dense form may be much larger than the file.
  require(element_count(shape) <= std::int64_t{1} << 24, ErrorKind::unsupported, "sparse tensor of ", element_count(shape), " elements");
  Tensor dense(values.dtype(), shape);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t at = 0;
    for (std::int64_t d = 0; d < (linear ? 1 : rank); ++d) {
      const std::int64_t index = linear ? indices.as_int(i) : indices.as_int(i * rank + d);
      const std::int64_t extent = linear ? dense.size() : shape[static_cast<std::size_t>(d)];
      require(index >= 0 && index < extent, ErrorKind::invalid_model, "sparse tensor '", proto.name(), "': index ", index,
              " is outside 0 to ", extent - 1);
      at = linear ? index : at * extent + index;
    }
    if (is_float(values.dtype())) store_double(values.dtype(), dense.mutable_raw(), at, values.as_double(i));
    else store_int(values.dtype(), dense.mutable_raw(), at, values.as_int(i));
  }
  return dense;
}

}  // namespace tenfold::onnx_import

namespace tenfold {

Tensor read_tensor_proto(std::span<const std::byte> bytes) { return onnx_import::to_tensor(onnx_import::read_tensor(bytes), nullptr); }

}  // namespace tenfold
