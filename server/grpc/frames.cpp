// Prefixes, gzip, and the two codings of header values.
#include "grpc/frames.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>

namespace tenfold::server::grpc {
namespace {

constexpr std::size_t kInflateStep = 64 << 10, kCompactAt = 64 << 10;

CallStatus too_long(std::size_t length, std::size_t max_bytes) {
  return {StatusCode::resource_exhausted,
          "Received message larger than max (" + std::to_string(length) + " vs. " + std::to_string(max_bytes) + " bytes)"};
}

}  // namespace

std::size_t FrameReader::consume(std::string_view piece) {
  std::size_t used = 0;
  if (whole_ || fault_) return used;
  while (prefix_filled_ < kPrefixBytes && used < piece.size()) prefix_[prefix_filled_++] = static_cast<unsigned char>(piece[used++]);
  if (prefix_filled_ < kPrefixBytes) return used;
  if (frame_.bytes.empty()) {
    length_ = std::size_t{prefix_[1]} << 24 | std::size_t{prefix_[2]} << 16 | std::size_t{prefix_[3]} << 8 | prefix_[4];
    frame_.compressed = prefix_[0] == 1;
    if (prefix_[0] > 1) {
      fault_ = CallStatus{StatusCode::internal,
                          "the first byte of a message is " + std::to_string(prefix_[0]) + ": 0 (as it is) or 1 (compressed) is expected"};
      return used;
    }
    if (length_ > max_bytes_) {
      fault_ = too_long(length_, max_bytes_);
      return used;
    }
  }
  // Memory grows with what arrives: a length alone reserves nothing.
  const std::size_t count = std::min(length_ - frame_.bytes.size(), piece.size() - used);
  frame_.bytes.append(piece.substr(used, count));
  whole_ = frame_.bytes.size() == length_;
  return used + count;
}

void FrameReader::push(std::string_view piece) {
  if (fault_) return;
  if (at_ == raw_.size()) piece.remove_prefix(consume(piece));
  if (!piece.empty() && !fault_) raw_.append(piece);
}

bool FrameReader::waiting() {
  if (!whole_ && at_ < raw_.size()) {
    at_ += consume(std::string_view(raw_).substr(at_));
    if (at_ == raw_.size() || at_ > kCompactAt) {
      raw_.erase(0, at_);
      at_ = 0;
    }
  }
  return whole_;
}

bool FrameReader::next(Frame& frame) {
  if (!waiting()) return false;
  frame = std::move(frame_);
  frame_ = {};
  prefix_filled_ = length_ = 0;
  whole_ = false;
  return true;
}

std::string write_frame(std::string message, int level) {
  bool compressed = false;
  if (level > 0 && !message.empty()) {
    std::string packed = gzip(message, level);
    compressed = packed.size() < message.size();
    if (compressed) message = std::move(packed);
  }
  std::string frame;
  frame.reserve(kPrefixBytes + message.size());
  frame.push_back(compressed ? 1 : 0);
  for (int shift = 24; shift >= 0; shift -= 8) frame.push_back(static_cast<char>(message.size() >> shift));
  return frame += message;
}

std::optional<std::string> inflate(std::string_view bytes, std::size_t max_bytes, bool& too_long) {
  too_long = false;
  z_stream stream{};
  if (inflateInit2(&stream, MAX_WBITS + 32) != Z_OK) return std::nullopt;  // 32: gzip or zlib, by the header
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  int result = Z_OK;
  while (result == Z_OK && out.size() <= max_bytes) {
    const std::size_t old = out.size();
    out.resize(old + std::min(std::max(kInflateStep, old), max_bytes + 1 - old));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + old);
    stream.avail_out = static_cast<uInt>(out.size() - old);
    result = ::inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  const bool trailing = stream.avail_in != 0;
  inflateEnd(&stream);
  too_long = out.size() > max_bytes;
  if (too_long || result != Z_STREAM_END || trailing) return std::nullopt;
  return out;
}

std::string gzip(std::string_view bytes, int level) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string percent_encode(std::string_view text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const unsigned char c : text) {
    if (c >= 0x20 && c <= 0x7E && c != '%') {
      encoded += static_cast<char>(c);
    } else {
      encoded += '%';
      encoded += kDigits[c >> 4];
      encoded += kDigits[c & 15];
    }
  }
  return encoded;
}

std::optional<std::chrono::nanoseconds> parse_timeout(std::string_view text) {
  if (text.size() < 2 || text.size() > 9) return std::nullopt;
  std::int64_t number = 0;
  const char* end = text.data() + text.size() - 1;
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stopped != end || number < 0) return std::nullopt;
  switch (*end) {
    case 'H': return std::chrono::hours(std::min<std::int64_t>(number, 2'000'000));  // 228 years: more do not fit into nanoseconds
    case 'M': return std::chrono::minutes(number);
    case 'S': return std::chrono::seconds(number);
    case 'm': return std::chrono::milliseconds(number);
    case 'u': return std::chrono::microseconds(number);
    case 'n': return std::chrono::nanoseconds(number);
    default: return std::nullopt;
  }
}

bool list_has(std::string_view list, std::string_view item) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view one = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (one == item) return true;
  }
  return false;
}

}  // namespace tenfold::server::grpc
