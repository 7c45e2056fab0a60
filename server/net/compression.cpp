#include "net/compression.h"

#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <new>

namespace tenfold::server {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

int window_bits(Encoding encoding) { return encoding == Encoding::gzip ? 15 + 16 : 15; }

Bytef* bytes_of(const void* data) { return static_cast<Bytef*>(const_cast<void*>(data)); }

}  // namespace

std::optional<Encoding> content_encoding(std::string_view header) {
  const std::string name = lower(trimmed(header));
  if (name.empty() || name == "identity") return Encoding::none;
  if (name == "gzip" || name == "x-gzip") return Encoding::gzip;
  if (name == "deflate") return Encoding::deflate;
  return std::nullopt;
}

Encoding accepted_encoding(std::string_view header) {
  while (!header.empty()) {
    const std::size_t comma = std::min(header.find(','), header.size());
    const std::string_view item = header.substr(0, comma);
    header.remove_prefix(std::min(comma + 1, header.size()));
    const std::size_t semicolon = std::min(item.find(';'), item.size());
    const std::string weight = lower(trimmed(item.substr(std::min(semicolon + 1, item.size()))));
    if (weight.starts_with("q=0") && weight.find_first_of("123456789") == std::string::npos) continue;
    const auto known = content_encoding(item.substr(0, semicolon));
    if (known && *known != Encoding::none) return *known;
  }
  return Encoding::none;
}

Inflated inflate_body(HttpRequest& request, Encoding encoding, std::size_t limit) {
  z_stream stream{};
  if (::inflateInit2(&stream, window_bits(encoding)) != Z_OK) throw std::bad_alloc();
  std::size_t capacity = std::min(limit, std::max<std::size_t>(request.size * 4, 4096)) + 1;
  std::vector<std::byte> out(capacity);
  stream.next_in = bytes_of(request.body.get()), stream.avail_in = static_cast<uInt>(request.size);
  int result = Z_OK;
  while (result == Z_OK && stream.total_out <= limit) {
    if (stream.total_out == out.size()) out.resize(std::min(out.size() * 2, limit + 1));
    stream.next_out = bytes_of(out.data() + stream.total_out);
    stream.avail_out = static_cast<uInt>(out.size() - stream.total_out);
    const std::size_t before = stream.total_out;
    result = ::inflate(&stream, Z_NO_FLUSH);
    if (result == Z_BUF_ERROR || (result == Z_OK && stream.avail_in == 0 && stream.total_out == before)) break;   // it is cut off
  }
  const std::size_t size = stream.total_out;
  const bool whole = result == Z_STREAM_END && stream.avail_in == 0;
  ::inflateEnd(&stream);
  if (size > limit) return Inflated::too_large;
  if (!whole) return Inflated::damaged;
  auto body = std::make_shared_for_overwrite<std::byte[]>(size + kBodyPadding);
  std::memcpy(body.get(), out.data(), size);
  std::memset(body.get() + size, 0, kBodyPadding);
  request.body = std::move(body), request.size = size;
  return Inflated::ok;
}

std::string deflated(const std::vector<BodyPart>& body, Encoding encoding) {
  z_stream stream{};
  if (::deflateInit2(&stream, 1, Z_DEFLATED, window_bits(encoding), 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  std::string out;
  char chunk[16384];
  for (std::size_t i = 0; i <= body.size(); ++i) {
    const bool last = i == body.size();
    stream.next_in = last ? nullptr : bytes_of(body[i].bytes.data());
    stream.avail_in = last ? 0 : static_cast<uInt>(body[i].bytes.size());
    do {
      stream.next_out = bytes_of(chunk), stream.avail_out = sizeof chunk;
      ::deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
      out.append(chunk, sizeof chunk - stream.avail_out);
    } while (stream.avail_out == 0);
  }
  ::deflateEnd(&stream);
  return out;
}

BodyPart body_part(std::string text) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  const std::span<const std::byte> bytes = std::as_bytes(std::span(owner->data(), owner->size()));
  return {std::move(owner), bytes};
}

}  // namespace tenfold::server
