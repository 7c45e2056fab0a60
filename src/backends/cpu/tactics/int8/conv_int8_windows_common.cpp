// The windows of 8-bit channels-last images as rows of a product.
#include "backends/cpu/tactics/int8/conv_int8_windows_common.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstring>

#include "base/checked.h"

namespace tenfold::backends::cpu {
namespace {

// Neighbors along x that are also neighbors in memory make one run.
bool merged(const ConvInt8Shape& s) { return s.groups == 1 && s.dilation[2] == 1; }

}  // namespace

ConvInt8Lines::ConvInt8Lines(const ConvInt8Shape& s, const Int8Kernels& kernels, std::int64_t block_rows)
    : count(s.kernel[0] * s.kernel[1]), pitch(s.kernel[2] * s.depth) {
  if (ConvInt8Laid::takes(s, kernels, block_rows)) {
    how = laid;
    pitch = round_up_to(pitch, ConvInt8Laid::kStep);
    return;
  }
  if (kernels.taps == nullptr) return;
  const std::int64_t whole = round_up_to(pitch, kernels.k_group);
  if (s.depth % kernels.k_group == 0) {
    if (s.taps() <= Int8TapTable::kMaxTaps && s.depth <= ConvInt8Windows::kBorder) how = by_tap;
  } else if (merged(s) && count * whole <= Int8TapTable::kMaxTaps * kernels.k_group) {
    how = by_line;
    pitch = whole;
  }
}

ConvInt8Windows::ConvInt8Windows(const ConvInt8Shape& shape, const ConvInt8Extents& extents, const void* image, bool is_signed,
                                 std::int32_t zero, const Int8Kernels& kernels, std::int64_t block_rows,
                                 std::int64_t workers)
    : shape_(shape),
      extents_(extents),
      lines_(shape, kernels, block_rows),
      image_(static_cast<const char*>(image)),
      end_(image_ + extents.batch * extents.in[0] * extents.in[1] * extents.in[2] * shape.channels),
      signed_(is_signed),
      merged_(merged(shape)),
      small_lines_(merged_ && shape.kernel[2] * shape.depth <= kShortLine),
      flip_(kernels.expand_shifts && is_signed ? 0x80 : 0) {
  if (lines_.how == ConvInt8Lines::laid) laid_.emplace(shape, extents, image, zero, block_rows, workers);
  std::memset(border_, zero, sizeof border_);
  for (std::size_t d = 0; d < 3; ++d) last_inside_[d] = extents.in[d] - 1 - (shape.kernel[d] - 1) * shape.dilation[d];
  // What fills up the last line is read, too.
  const std::int64_t lines = (shape.kernel[0] - 1) * shape.dilation[0] * extents.in[1] + (shape.kernel[1] - 1) * shape.dilation[1];
  last_read_ = lines_.how == ConvInt8Lines::by_line ? end_ - lines * extents.in[2] * shape.channels - lines_.pitch : end_;
}

const char* ConvInt8Windows::direct(std::int64_t group, std::int64_t row, std::int64_t& stride) const noexcept {
  if (!shape_.pointwise()) return nullptr;
  stride = shape_.channels;
  return image_ + row * shape_.channels + group * shape_.depth;
}

// Calls f(i, place) for the windows of rows [row, row + rows).
template <class F>
void ConvInt8Windows::for_each_place(std::int64_t row, std::int64_t rows, F&& f) const noexcept {
  const Three &out = extents_.out, &s = shape_.stride, &begin = shape_.begin;
  std::int64_t x = row % out[2], y = row / out[2] % out[1], z = row / out[2] / out[1] % out[0], n = row / extents_.out_size();
  for (std::int64_t r = 0; r < rows; ++r) {
    f(r, Place{n, {z * s[0] - begin[0], y * s[1] - begin[1], x * s[2] - begin[2]}});
    if (++x < out[2]) continue;
    x = 0;
    if (++y < out[1]) continue;
    y = 0;
    if (++z < out[0]) continue;
    z = 0;
    ++n;
  }
}

void ConvInt8Windows::fill(const Int8Kernels& kernels, std::int64_t group, std::int64_t row, std::int64_t rows, std::int64_t k,
                           std::int64_t count, char* to, std::int64_t stride) const noexcept {
  if (shape_.pointwise()) {
    const char* from = image_ + row * shape_.channels + group * shape_.depth + k;
    for (std::int64_t r = 0; r < rows; ++r) kernels.expand(from + r * shape_.channels, count, signed_, to + r * stride);
    return;
  }
  const bool whole = k == 0 && count == shape_.depth * shape_.taps() && small_lines_ && stride >= count + kShortLine;
  for_each_place(row, rows, [&](std::int64_t r, const Place& place) {
    if (!whole || !inside_window(place, to + r * stride)) window(kernels, group, place, k, k + count, to + r * stride);
  });
}

// A whole window of short lines (a first layer has few channels) that the image and what follows it in memory cover: copied by
// fixed amounts, each line over what the one before wrote too much. False if it is none.
bool ConvInt8Windows::inside_window(const Place& place, char* to) const noexcept {
  const Three &in = extents_.in, &dilation = shape_.dilation, &low = place.at;
  for (std::size_t d = 0; d < 3; ++d)
    if (low[d] < 0 || low[d] + (shape_.kernel[d] - 1) * dilation[d] >= in[d]) return false;
  const std::int64_t line = shape_.kernel[2] * shape_.depth, row_bytes = in[2] * shape_.channels;
  const char* plane = address_of(0, place);
  const char* last = plane + ((shape_.kernel[0] - 1) * dilation[0] * in[1] + (shape_.kernel[1] - 1) * dilation[1]) * row_bytes;
  if (last + kShortLine > end_) return false;
  const __m128i flip = _mm_set1_epi8(static_cast<char>(flip_));
  for (std::int64_t a = 0; a < shape_.kernel[0]; ++a, plane += dilation[0] * in[1] * row_bytes) {
    const char* from = plane;
    for (std::int64_t b = 0; b < shape_.kernel[1]; ++b, from += dilation[1] * row_bytes, to += line) {
      for (std::int64_t i = 0; i < line; i += 16)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                         _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)), flip));
    }
  }
  return true;
}

const char* ConvInt8Windows::address_of(std::int64_t group, const Place& p) const noexcept {
  return image_ + (((p.n * extents_.in[0] + p.at[0]) * extents_.in[1] + p.at[1]) * extents_.in[2] + p.at[2]) * shape_.channels +
         group * shape_.depth;
}

bool ConvInt8Windows::line_inside(const Place& p, std::int64_t a, std::int64_t b) const noexcept {
  const std::int64_t z = p.at[0] + a * shape_.dilation[0], y = p.at[1] + b * shape_.dilation[1];
  return z >= 0 && z < extents_.in[0] && y >= 0 && y < extents_.in[1];
}

// Values [first, last) of one window, line by line.
void ConvInt8Windows::window(const Int8Kernels& kernels, std::int64_t group, const Place& place, std::int64_t first, std::int64_t last,
                             char* to) const noexcept {
  const std::int64_t line = shape_.kernel[2] * shape_.depth, skipped = first > 0 ? first / line : 0;
  const std::int64_t row_bytes = extents_.in[2] * shape_.channels;
  const char* pixels = address_of(group, {place.n, {0, 0, 0}});
  std::int64_t a = skipped > 0 ? skipped / shape_.kernel[1] : 0, b = skipped - a * shape_.kernel[1];
  for (std::int64_t l = skipped * line; l < last; l += line) {
    const bool inside = line_inside(place, a, b);
    const std::int64_t z = place.at[0] + a * shape_.dilation[0], y = place.at[1] + b * shape_.dilation[1];
    if (++b == shape_.kernel[1]) b = 0, ++a;
    const std::int64_t from = std::max(first - l, std::int64_t{0}), until = std::min(last - l, line);
    char* line_to = to + l + from - first;
    if (!inside)
      fill_border(kernels, until - from, line_to);
    else if (merged_)
      run_of_taps(kernels, pixels + (z * extents_.in[1] + y) * row_bytes, place.at[2], from, until, line_to);
    else
      tap_by_tap(kernels, pixels + (z * extents_.in[1] + y) * row_bytes, place.at[2], from, until, line_to);
  }
}

// Bytes [from, until) of a line that starts at x, all channels and neighboring taps in one go.
void ConvInt8Windows::run_of_taps(const Int8Kernels& kernels, const char* pixels, std::int64_t x, std::int64_t from, std::int64_t until,
                                  char* to) const noexcept {
  const std::int64_t offset = x * shape_.channels, end = extents_.in[2] * shape_.channels;
  const std::int64_t left = std::clamp(-offset, from, until), right = std::clamp(end - offset, left, until);
  if (left > from) fill_border(kernels, left - from, to);
  if (right > left) {
    // Whole vectors where the image goes on: what lies behind the run is overwritten by the next one.
    const char* run = pixels + offset + left;
    const std::int64_t whole = round_up_to(right - left, 32), count = run + whole <= end_ ? whole : right - left;
    kernels.expand(run, count, signed_, to + left - from);
  }
  if (until > right) fill_border(kernels, until - right, to + right - from);
}

void ConvInt8Windows::tap_by_tap(const Int8Kernels& kernels, const char* pixels, std::int64_t x, std::int64_t from, std::int64_t until,
                                 char* to) const noexcept {
  for (std::int64_t i = from; i < until;) {
    const std::int64_t tap = i / shape_.depth, channel = i % shape_.depth, count = std::min(shape_.depth - channel, until - i);
    const std::int64_t at = x + tap * shape_.dilation[2];
    if (at >= 0 && at < extents_.in[2])
      kernels.expand(pixels + at * shape_.channels + channel, count, signed_, to);
    else
      fill_border(kernels, count, to);
    to += count;
    i += count;
  }
}

void ConvInt8Windows::fill_border(const Int8Kernels& kernels, std::int64_t count, char* to) const noexcept {
  for (std::int64_t i = 0; i < count; i += kBorder) kernels.expand(border_, std::min(kBorder, count - i), signed_, to + i);
}

bool ConvInt8Windows::find(std::int64_t group, std::int64_t row, std::int64_t rows, Int8TapTable& table) const noexcept {
  if (lines_.how != ConvInt8Lines::by_tap && lines_.how != ConvInt8Lines::by_line) return false;
  const Three &out = extents_.out, &stride = shape_.stride, &begin = shape_.begin;
  Place edges[kInt8MaxRows];   // windows of which a part lies outside
  std::int64_t edge_rows[kInt8MaxRows], edge_count = 0;
  const auto edge = [&](std::int64_t r, const Place& place) { edges[edge_count] = place, edge_rows[edge_count++] = r; };
  for (std::int64_t r = 0; r < rows;) {   // line by line of the output
    const std::int64_t at = row + r, x = at % out[2], count = std::min(out[2] - x, rows - r), y = at / out[2];
    Place place{y / out[1] / out[0],
                {y / out[1] % out[0] * stride[0] - begin[0], y % out[1] * stride[1] - begin[1], x * stride[2] - begin[2]}};
    const char* address = address_of(group, place);
    bool inside = true;
    for (std::size_t d = 0; d < 2; ++d) inside = inside && place.at[d] >= 0 && place.at[d] <= last_inside_[d];
    for (std::int64_t i = 0; i < count; ++i, ++r, address += stride[2] * shape_.channels, place.at[2] += stride[2]) {
      table.rows[r] = address;
      if (!inside || place.at[2] < 0 || place.at[2] > last_inside_[2] || address > last_read_) edge(r, place);
    }
  }
  if (lines_.how == ConvInt8Lines::by_line)
    find_lines(edges, edge_rows, edge_count, rows, table);
  else
    find_taps(edges, edge_rows, edge_count, rows, table);
  return true;
}

namespace {

// An address that a tap's offset leads back from to `at`. It may lie outside of what `at` lies in, where pointers must not point.
const char* before(const char* at, std::int64_t offset) {
  return reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(at) - static_cast<std::uintptr_t>(offset));
}

}  // namespace

void ConvInt8Windows::find_taps(const Place* edges, const std::int64_t* edge_rows, std::int64_t edge_count, std::int64_t rows,
                                Int8TapTable& table) const noexcept {
  const Three &kernel = shape_.kernel, &dilation = shape_.dilation, &in = extents_.in;
  table.bytes = shape_.depth;
  table.count = shape_.taps();
  Int8WindowTap* tap = table.taps;
  const char** own = table.rows + kInt8MaxRows;   // rows of a tap that lies outside for some
  for (std::int64_t a = 0; a < kernel[0]; ++a) {
    for (std::int64_t b = 0; b < kernel[1]; ++b) {
      for (std::int64_t c = 0; c < kernel[2]; ++c, ++tap) {
        tap->rows = table.rows;
        tap->offset = ((a * dilation[0] * in[1] + b * dilation[1]) * in[2] + c * dilation[2]) * shape_.channels;
        for (std::int64_t e = 0; e < edge_count; ++e) {
          const std::int64_t x = edges[e].at[2] + c * dilation[2];
          if (line_inside(edges[e], a, b) && x >= 0 && x < in[2]) continue;
          if (tap->rows == table.rows) tap->rows = std::copy_n(table.rows, rows, own) - rows;
          own[edge_rows[e]] = before(border_, tap->offset);
        }
        if (tap->rows != table.rows) own += kInt8MaxRows;
      }
    }
  }
}

void ConvInt8Windows::find_lines(const Place* edges, const std::int64_t* edge_rows, std::int64_t edge_count, std::int64_t rows,
                                 Int8TapTable& table) const noexcept {
  const Three &kernel = shape_.kernel, &dilation = shape_.dilation, &in = extents_.in;
  const std::int64_t line = kernel[2] * shape_.depth;
  table.bytes = lines_.pitch;
  table.count = lines_.count;
  Int8WindowTap* tap = table.taps;
  const char** own = table.rows + kInt8MaxRows;
  char* spare = table.spare;
  for (std::int64_t a = 0; a < kernel[0]; ++a) {
    for (std::int64_t b = 0; b < kernel[1]; ++b) {
      const std::int64_t start = (a * dilation[0] * in[1] + b * dilation[1]) * in[2] * shape_.channels;
      *tap++ = {edge_count > 0 ? own : table.rows, start};
      if (edge_count == 0) continue;
      std::copy_n(table.rows, rows, own);
      for (std::int64_t e = 0; e < edge_count; ++e, spare += lines_.pitch) {
        const Place& p = edges[e];
        if (line_inside(p, a, b)) {
          const char* pixels = address_of(0, {p.n, {p.at[0] + a * dilation[0], p.at[1] + b * dilation[1], 0}});
          const std::int64_t offset = p.at[2] * shape_.channels, end = in[2] * shape_.channels;
          const std::int64_t left = std::clamp(-offset, std::int64_t{0}, line), right = std::clamp(end - offset, left, line);
          std::memset(spare, border_[0], static_cast<std::size_t>(lines_.pitch));
          std::copy_n(pixels + offset + left, right - left, spare + left);
        }
        own[edge_rows[e]] = before(line_inside(p, a, b) ? spare : border_, start);
      }
      own += kInt8MaxRows;
    }
  }
}

}  // namespace tenfold::backends::cpu
