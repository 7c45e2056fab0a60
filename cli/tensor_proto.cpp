// The protobuf wire format of one TensorProto: fields are a key (number and kind) and a varint, a fixed word or a length with bytes.
#include "tensor_proto.h"

#include <cstring>
#include <vector>

#include "tenfold/error.h"

namespace tenfold::cli {
namespace {

struct Wire {
  std::string_view rest;
  const std::string& what;
  [[noreturn]] void bad(const std::string& why) const { throw Error(ErrorKind::io, what + ": " + why); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest.empty()) bad("the TensorProto ends too early");
      const auto byte = static_cast<unsigned char>(rest.front());
      rest.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (!(byte & 0x80)) return value;
    }
    bad("a number in the TensorProto is too long");
  }
  std::string_view take(std::uint64_t length) {
    if (length > rest.size()) bad("the TensorProto ends too early");
    const std::string_view taken = rest.substr(0, length);
    rest.remove_prefix(length);
    return taken;
  }
};

// ONNX's numbers for element types, in order from 1.
constexpr DType kTypes[] = {DType::f32,    DType::u8,         DType::i8,      DType::u16,  DType::i16,      DType::i32,
                            DType::i64,    DType::string,     DType::boolean, DType::f16,  DType::f64,      DType::u32,
                            DType::u64,    DType::count_,     DType::count_,  DType::bf16, DType::f8e4m3fn, DType::f8e4m3fnuz,
                            DType::f8e5m2, DType::f8e5m2fnuz, DType::u4,      DType::i4,   DType::f4e2m1};

struct Fields {
  Shape dims;
  std::uint64_t type = 0;
  std::string raw;                     // elements as stored, from whichever field carries them
  std::vector<std::uint64_t> numbers;  // int32_data, int64_data or uint64_data, to be narrowed
  std::vector<std::string> strings;
};

// A repeated number, packed or single.
void repeated(Wire& wire, int kind, auto&& add) {
  if (kind == 0) return add(wire.varint());
  Wire packed{wire.take(wire.varint()), wire.what};
  while (!packed.rest.empty()) add(packed.varint());
}

void read_field(Wire& wire, Fields& f, std::uint64_t number, int kind) {
  const auto bytes = [&] { return wire.take(kind == 1 ? 8 : kind == 5 ? 4 : wire.varint()); };
  switch (number) {
    case 1: return repeated(wire, kind, [&](std::uint64_t v) { f.dims.push_back(static_cast<std::int64_t>(v)); });
    case 5:
    case 7:
    case 11: return repeated(wire, kind, [&](std::uint64_t v) { f.numbers.push_back(v); });
    case 6: return void(f.strings.emplace_back(bytes()));
    case 4:
    case 9:
    case 10: return void(f.raw += bytes());
    default: break;
  }
  if (number == 2 && kind == 0)
    f.type = wire.varint();
  else if (number == 13 || number == 14)
    wire.bad("the tensor's data lie in another file, which .pb inputs may not");
  else if (kind == 0)
    wire.varint();
  else
    bytes();
}

Fields read_fields(std::string_view bytes, const std::string& what) {
  Wire wire{bytes, what};
  Fields fields;
  while (!wire.rest.empty()) {
    const std::uint64_t key = wire.varint();
    const int kind = static_cast<int>(key & 7);
    if (kind == 3 || kind == 4 || kind > 5) wire.bad("this is no TensorProto");
    read_field(wire, fields, key >> 3, kind);
  }
  return fields;
}

}  // namespace

Tensor parse_tensor_proto(std::string_view bytes, const std::string& what) {
  Fields f = read_fields(bytes, what);
  const auto bad = [&](const std::string& why) { throw Error(ErrorKind::io, what + ": " + why); };
  const DType type = f.type >= 1 && f.type <= std::size(kTypes) ? kTypes[f.type - 1] : DType::count_;
  if (type == DType::count_) bad("element type " + std::to_string(f.type) + " of the TensorProto is not supported");
  const std::int64_t count = element_count(f.dims);
  if (type == DType::string) return Tensor::strings(f.dims, f.strings);
  const std::int64_t need = byte_size(type, count);
  if (!f.numbers.empty()) {
    const auto width = static_cast<std::size_t>(bits(type) >= 8 ? bits(type) / 8 : 1);
    for (const std::uint64_t v : f.numbers) f.raw.append(reinterpret_cast<const char*>(&v), width);  // little-endian: the low bytes
  }
  if (static_cast<std::int64_t>(f.raw.size()) != need)
    bad("the TensorProto has " + std::to_string(f.raw.size()) + " bytes of data, its shape needs " + std::to_string(need));
  Tensor t(type, f.dims);
  if (need > 0) std::memcpy(t.mutable_raw(), f.raw.data(), f.raw.size());
  return t;
}

}  // namespace tenfold::cli
