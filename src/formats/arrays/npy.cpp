// Reading and writing .npy.
#include "formats/arrays/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "tenfold/error.h"

namespace tenfold::formats {
namespace {

[[noreturn]] void bad(const std::string& what, const std::string& why) { throw Error(ErrorKind::io, what + ": " + why); }

struct Form {
  char kind;
  int width;
};

Form form_of(DType type) {
  switch (type) {
    case DType::f32: return {'f', 4};
    case DType::f64: return {'f', 8};
    case DType::f16: return {'f', 2};
    case DType::bf16: return {'u', 2};
    case DType::i64: return {'i', 8};
    case DType::i32: return {'i', 4};
    case DType::i16: return {'i', 2};
    case DType::i8:
    case DType::i4:
    case DType::i2: return {'i', 1};
    case DType::u64: return {'u', 8};
    case DType::u32: return {'u', 4};
    case DType::u16: return {'u', 2};
    case DType::boolean: return {'b', 1};
    case DType::string: return {'U', 0};
    default: return {'u', 1};  // u8, u4, u2 and the floats of 8 and 4 bits
  }
}

std::string code(char kind, int width) {
  return std::string(width == 1 ? "|" : "<") + kind + std::to_string(kind == 'U' ? width / 4 : width);
}

// The text between `open` and `close` behind "'key':" in the header, a Python dictionary as NumPy prints it.
std::string_view field(std::string_view header, std::string_view key, char open, char close, const std::string& what) {
  const std::size_t at = header.find("'" + std::string(key) + "'");
  const std::size_t begin = at == header.npos ? at : header.find(open, at + key.size() + 2);
  const std::size_t end = begin == header.npos ? begin : header.find(close, begin + 1);
  if (end == header.npos) bad(what, "the .npy header has no " + std::string(key));
  return header.substr(begin + 1, end - begin - 1);
}

bool is_fortran_order(std::string_view header, const std::string& what) {
  constexpr std::string_view kKey = "'fortran_order':";
  const std::size_t at = header.find(kKey);
  std::string_view value = at == header.npos ? "" : header.substr(at + kKey.size());
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  if (!value.starts_with("True") && !value.starts_with("False")) bad(what, "the .npy header has no fortran_order of True or False");
  return value.starts_with("True");
}

Shape parse_extents(std::string_view text, const std::string& what) {
  Shape shape;
  while (true) {
    while (!text.empty() && (text.front() == ' ' || text.front() == ',')) text.remove_prefix(1);
    if (text.empty()) return shape;
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || extent < 0 || shape.size() >= 64) bad(what, "the .npy header has no valid shape");
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
}

// Nothing if they cannot be counted.
std::optional<std::int64_t> bytes_of(const NpyArray& array) {
  std::int64_t bytes = array.width;
  for (const std::int64_t extent : array.shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return {};
  return bytes;
}

void append_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static constexpr std::uint32_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(kLead[more] | (c >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80 | ((c >> (6 * i)) & 0x3F));
}

std::u32string from_utf8(const std::string& text) {
  std::u32string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
    char32_t c = more == 3 ? lead & 7u : more == 2 ? lead & 15u : more == 1 ? lead & 31u : lead;
    for (; more > 0 && i < text.size(); --more) c = (c << 6) | (static_cast<unsigned char>(text[i++]) & 0x3Fu);
    out += c;
  }
  return out;
}

void swap_bytes(NpyArray& a) {
  auto own = std::make_shared<std::string>(a.data);
  const std::size_t unit = a.kind == 'U' ? 4 : static_cast<std::size_t>(a.width);  // characters of 4 bytes
  for (auto at = own->begin(); at != own->end(); at += static_cast<std::ptrdiff_t>(unit))
    std::reverse(at, at + static_cast<std::ptrdiff_t>(unit));
  a.data = *own, a.own = std::move(own);
}

// From Fortran's order, in which the first axis is innermost.
void to_c_order(NpyArray& a) {
  auto own = std::make_shared<std::string>(a.data.size(), '\0');
  const auto width = static_cast<std::size_t>(a.width);
  const std::size_t rank = a.shape.size();
  std::vector<std::size_t> step(rank, width), at(rank, 0);  // bytes from one element to the next along each axis
  for (std::size_t d = 1; d < rank; ++d) step[d] = step[d - 1] * static_cast<std::size_t>(a.shape[d - 1]);
  std::size_t from = 0;
  for (std::size_t to = 0; to < own->size(); to += width) {
    std::memcpy(own->data() + to, a.data.data() + from, width);
    for (std::size_t d = rank; d-- > 0;) {
      from += step[d];
      if (++at[d] < static_cast<std::size_t>(a.shape[d])) break;
      from -= step[d] * at[d], at[d] = 0;
    }
  }
  a.data = *own, a.own = std::move(own);
}

Tensor strings_from(const NpyArray& a, std::int64_t count) {
  std::vector<std::string> values(static_cast<std::size_t>(count));
  const std::size_t letters = static_cast<std::size_t>(a.width) / 4;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t k = 0; k < letters; ++k) {
      std::uint32_t c = 0;
      std::memcpy(&c, a.data.data() + (i * letters + k) * 4, 4);
      if (c == 0) break;
      append_utf8(values[i], c);
    }
  return Tensor::strings(a.shape, std::move(values));
}

std::string string_data(const Tensor& t, std::size_t& letters) {
  std::vector<std::u32string> values;
  for (const std::string& s : t.string_values()) values.push_back(from_utf8(s)), letters = std::max(letters, values.back().size());
  std::string data(values.size() * letters * 4, '\0');
  for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(data.data() + i * letters * 4, values[i].data(), values[i].size() * 4);
  return data;
}

}  // namespace

NpyArray parse_npy(std::string_view bytes, const std::string& what) {
  if (bytes.size() < 12 || bytes.substr(0, 6) != "\x93NUMPY") bad(what, "this is no .npy file");
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
  const bool first = byte(6) == 1;
  const std::size_t length = first ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  const std::size_t start = first ? 10 : 12;
  if (byte(6) < 1 || byte(6) > 3) bad(what, "its .npy format is version " + std::to_string(byte(6)) + "; 1 to 3 can be read");
  if (length > bytes.size() - start)
    bad(what, "the .npy header is to have " + std::to_string(length) + " bytes, and " + std::to_string(bytes.size() - start) + " follow");
  const std::string_view header = bytes.substr(start, length);
  NpyArray array{.shape = parse_extents(field(header, "shape", '(', ')', what), what), .data = bytes.substr(start + length)};
  const std::string_view descr = field(header, "descr", '\'', '\'', what);
  const bool first_axis_innermost = is_fortran_order(header, what);
  if (descr.size() < 3) bad(what, "element type '" + std::string(descr) + "' is not supported; numbers, bool and Unicode are");
  array.kind = descr[1];
  const auto [end, error] = std::from_chars(descr.data() + 2, descr.data() + descr.size(), array.width);
  const bool known = std::string_view("fiubU").find(array.kind) != std::string_view::npos &&
                     std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  if (error != std::errc() || end != descr.data() + descr.size() || array.width < 1 || array.width > (1 << 24) || !known)
    bad(what, "element type '" + std::string(descr) + "' is not supported; numbers, bool and Unicode are");
  if (array.kind == 'U') array.width *= 4;
  const auto need = bytes_of(array);
  if (!need || *need > static_cast<std::int64_t>(array.data.size()))
    bad(what, "the array " + text(array.shape) + " needs more bytes than the file has");
  array.data = array.data.substr(0, static_cast<std::size_t>(*need));
  if (descr[0] == '>') swap_bytes(array);
  if (first_axis_innermost && array.shape.size() > 1) to_c_order(array);
  return array;
}

bool is_form_of(const NpyArray& a, DType type) {
  const Form form = form_of(type);
  return a.kind == form.kind && (a.kind == 'U' || a.width == form.width);
}

Tensor to_tensor(const NpyArray& a, DType requested, const std::string& what) {
  const Form form = form_of(requested);
  if (!is_form_of(a, requested))
    bad(what, "the array has type " + code(a.kind, a.width) + ", but " + std::string(name(requested)) + " is needed (NumPy's " +
                  code(form.kind, form.width) + ")");
  const std::int64_t count = element_count(a.shape);
  if (requested == DType::string) return strings_from(a, count);
  Tensor t(requested, a.shape);
  if (bits(requested) >= 8) {
    if (!a.data.empty()) std::memcpy(t.mutable_raw(), a.data.data(), a.data.size());
    return t;
  }
  const int width = bits(requested), per_byte = 8 / width;
  auto* packed = t.mutable_data<unsigned char>();
  for (std::int64_t i = 0; i < count; ++i)
    packed[i / per_byte] |= static_cast<unsigned char>(
        (static_cast<unsigned char>(a.data[static_cast<std::size_t>(i)]) & ((1 << width) - 1)) << (i % per_byte * width));
  return t;
}

Tensor to_tensor(const NpyArray& a, const std::string& what) {
  for (DType type : {DType::f32, DType::f64, DType::f16, DType::i64, DType::i32, DType::i16, DType::i8, DType::u64, DType::u32, DType::u16,
                     DType::u8, DType::boolean, DType::string})
    if (is_form_of(a, type)) return to_tensor(a, type, what);
  bad(what, "element type " + code(a.kind, a.width) + " is not supported");
}

std::string to_npy(const Tensor& t) {
  Form form = form_of(t.dtype());
  std::string data;
  if (t.dtype() == DType::string) {
    std::size_t letters = 1;
    data = string_data(t, letters);
    form.width = static_cast<int>(letters * 4);
  } else if (bits(t.dtype()) >= 8) {
    data.assign(static_cast<const char*>(t.raw()), static_cast<std::size_t>(t.bytes()));
  } else {
    const bool is_signed = form.kind == 'i';
    const int width = bits(t.dtype()), per_byte = 8 / width;
    for (std::int64_t i = 0; i < t.size(); ++i) {
      int value = (t.data<unsigned char>()[i / per_byte] >> (i % per_byte * width)) & ((1 << width) - 1);
      if (is_signed && value >> (width - 1)) value -= 1 << width;
      data += static_cast<char>(value);
    }
  }
  std::string extents;
  for (const std::int64_t extent : t.shape()) extents += std::to_string(extent) + ", ";
  if (t.rank() > 1) extents.resize(extents.size() - 2);
  std::string header = "{'descr': '" + code(form.kind, form.width) + "', 'fortran_order': False, 'shape': (" + extents + "), }";
  header.append(63 - (10 + header.size()) % 64, ' ') += '\n';
  const auto low = static_cast<char>(header.size() & 0xFF), high = static_cast<char>(header.size() >> 8);
  return std::string("\x93NUMPY\x01\x00", 8) + low + high + header + data;
}

}  // namespace tenfold::formats
