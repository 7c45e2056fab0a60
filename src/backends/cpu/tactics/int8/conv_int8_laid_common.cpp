// Lays out the lines of images for windows at a constant distance.
#include "backends/cpu/tactics/int8/conv_int8_laid_common.h"

#include <algorithm>
#include <cstring>

#include "base/checked.h"

namespace tenfold::backends::cpu {
namespace {

constexpr std::int64_t kMaxBytes = 4 << 20;   // of a block: beyond, windows are gathered
constexpr std::int64_t kFewRows = 64;
constexpr std::int64_t kBlocks = 4, kBlocksBytes = 1 << 20;   // laid as one: half of the second cache at most

std::int64_t run_bytes(const ConvInt8Shape& s) { return s.kernel[2] * s.depth; }
std::int64_t height(const ConvInt8Shape& s) { return (s.kernel[1] - 1) * s.dilation[1] + 1; }

// Whole lines: at most `block_rows` windows from one to the next, so at most three times as many in all the lines that a block touches.
// Cut lines: the windows of one. Behind either the rows that fill up the last tile, a border and a step are read.
std::int64_t block_bytes(const ConvInt8Shape& s, std::int64_t block_rows) {
  const std::int64_t rows = round_up_to(block_rows, 16), lines = height(s) + s.stride[1];
  const std::int64_t whole = (3 * rows * s.stride[1] + lines * rows) * s.stride[2], cut = lines * (rows * s.stride[2] + s.kernel[2]);
  return round_up_to((std::max(whole, cut) + 16 * s.stride[2] + s.kernel[2] + s.begin[2]) * s.depth + 2 * ConvInt8Laid::kStep, 64);
}

}  // namespace

bool ConvInt8Laid::takes(const ConvInt8Shape& s, const Int8Kernels& kernels, std::int64_t block_rows) {
  if (kernels.laid == nullptr || s.taps() == 1 || s.groups > 1 || s.dilation[2] > 1) return false;   // one tap: nothing overlaps
  if (s.kernel[0] > 1 || s.stride[0] > 1 || s.begin[0] != 0) return false;
  const std::int64_t limit = 1 << 16;   // keeps what follows within 64 bits
  if (s.depth > limit || s.kernel[1] > limit || s.kernel[2] > limit || s.stride[1] > limit || s.stride[2] > limit ||
      s.dilation[1] > limit || s.begin[1] > limit || s.begin[2] > limit || s.begin[2] < 0)
    return false;
  return s.kernel[1] * ceil_div(run_bytes(s), kStep) <= kInt8MaxSteps && block_bytes(s, block_rows) <= kMaxBytes;
}

// Fewer lines are copied for several blocks then, and kernels end fewer times with nothing to do meanwhile.
std::int64_t ConvInt8Laid::max_blocks(const ConvInt8Shape& s, std::int64_t block_rows) {
  return block_bytes(s, kBlocks * round_up_to(block_rows, 16)) <= kBlocksBytes ? kBlocks : 1;
}
std::int64_t ConvInt8Laid::bytes(const ConvInt8Shape& s, std::int64_t block_rows) {
  return block_bytes(s, max_blocks(s, block_rows) * round_up_to(block_rows, 16));   // lay() takes whole tiles of each block
}

ConvInt8Laid::ConvInt8Laid(const ConvInt8Shape& shape, const ConvInt8Extents& extents, const void* image, std::int32_t zero,
                           std::int64_t block_rows, std::int64_t workers)
    : shape_(shape),
      extents_(extents),
      image_(static_cast<const char*>(image)),
      zero_(zero),
      images_(extents.batch * extents.out[0]),
      max_blocks_(max_blocks(shape, block_rows)),
      rows_(round_up_to(block_rows, 16)) {
  const std::int64_t out = extents.out[2], begin = shape.begin[2], in = extents.in[2];
  const std::int64_t needed = (out - 1) * shape.stride[2] + shape.kernel[2], beyond = std::max(needed - begin - in, std::int64_t{0});
  // The border before the next line also serves as the one behind this line.
  pitch_ = begin + std::clamp(needed - begin, std::int64_t{0}, in) + std::max(beyond - begin, std::int64_t{0});
  // Where it is as wide as a window, lines would begin before all windows of those before them have begun.
  line_rows_ = std::max(ceil_div(pitch_, shape.stride[2]), out);
  pitch_ = line_rows_ * shape.stride[2];
  if (out <= 0 || extents.out[1] <= 0) {
    blocks_ = 0;
  } else if (line_rows_ <= rows_) {
    const std::int64_t all = (extents.out[1] - 1) * line_rows_ + out;
    // As many blocks for each worker, if they are not too small for the lines that two of them lay out.
    const std::int64_t min = ceil_div(all, rows_), shared = images_ % workers == 0 ? min : round_up_to(min, workers);
    const std::int64_t blocks = std::min(shared, std::max(all / kFewRows, min));
    rows_ = round_up_to(ceil_div(all, blocks), 16);
    blocks_ = ceil_div(all, rows_);
  } else {
    line_rows_ = 0;
    rows_ = round_up_to(ceil_div(out, ceil_div(out, rows_)), 16);
    blocks_ = extents.out[1] * ceil_div(out, rows_);
  }
}

Int8Laid ConvInt8Laid::lay(std::int64_t block, std::int64_t count, char* to, std::int32_t* offsets) const noexcept {
  const std::int64_t out = extents_.out[2], image = block / blocks_, stride = shape_.stride[2];
  block %= blocks_;
  Int8Laid laid{
      .first = to, .stride = stride * shape_.depth, .rows = rows_, .line_rows = line_rows_, .line_outputs = out, .x = 0, .out = 0};
  Piece piece{.image = image, .y0 = 0, .x0 = -shape_.begin[2], .lines = 1, .pixels = pitch_};
  if (line_rows_ > 0) {
    const std::int64_t row = block * rows_, all = (extents_.out[1] - 1) * line_rows_ + out;
    piece.y0 = row / line_rows_;
    laid.x = row % line_rows_;
    laid.rows = std::min(count * rows_, all - row);
    piece.lines = (row + laid.rows - 1) / line_rows_ - piece.y0 + 1;
    laid.first = to + laid.x * laid.stride;
  } else {
    const std::int64_t pieces = blocks_ / extents_.out[1], x = block % pieces * rows_;
    piece.y0 = block / pieces;
    laid.rows = std::min(rows_, out - x);
    laid.line_rows = out;
    laid.x = x;
    piece.x0 += x * stride;
    piece.pixels = (laid.rows - 1) * stride + shape_.kernel[2];
  }
  laid.out = (image * extents_.out[1] + piece.y0) * out;
  copy(piece, to, offsets);
  return laid;
}

// Lines i, i + stride, i + 2 * stride ... of the input lie behind one another.
void ConvInt8Laid::copy(const Piece& piece, char* to, std::int32_t* offsets) const noexcept {
  const std::int64_t depth = shape_.depth, stride = shape_.stride[1], dilation = shape_.dilation[1];
  const std::int64_t lines = (piece.lines - 1) * stride + height(shape_), each = ceil_div(lines, stride);
  const std::int64_t line_bytes = piece.pixels * depth, in = extents_.in[2];
  const std::int64_t left = std::clamp(-piece.x0, std::int64_t{0}, piece.pixels),
                     right = std::clamp(in - piece.x0, left, piece.pixels);
  const std::int64_t z = piece.image % extents_.out[0], n = piece.image / extents_.out[0];
  const char* image = image_ + (n * extents_.in[0] + z) * extents_.in[1] * in * depth;
  for (std::int64_t slot = 0; slot < stride * each; ++slot, to += line_bytes) {
    const std::int64_t i = slot / each + slot % each * stride, y = piece.y0 * stride - shape_.begin[1] + i;
    bool used = i < lines;
    if (stride > 1) {
      bool touched = false;
      for (std::int64_t t = 0; t < shape_.kernel[1]; ++t) touched = touched || t * dilation % stride == slot / each;
      used = used && touched;
    }
    const bool inside = used && z < extents_.in[0] && y >= 0 && y < extents_.in[1];
    const std::int64_t from = inside ? left : piece.pixels, until = inside ? right : piece.pixels;
    std::memset(to, zero_, static_cast<std::size_t>((used ? from : left) * depth));
    if (!inside) continue;
    std::memcpy(to + from * depth, image + (y * in + piece.x0 + from) * depth, static_cast<std::size_t>((until - from) * depth));
    std::memset(to + until * depth, zero_, static_cast<std::size_t>((piece.pixels - until) * depth));
  }
  // The border behind the last line.
  std::memset(to, zero_, static_cast<std::size_t>(shape_.begin[2] * depth));
  const std::int64_t steps = ceil_div(run_bytes(shape_), kStep);
  for (std::int64_t t = 0; t < shape_.kernel[1]; ++t) {
    const std::int64_t i = t * dilation, slot = i % stride * each + i / stride;
    for (std::int64_t s = 0; s < steps; ++s) *offsets++ = static_cast<std::int32_t>(slot * line_bytes + s * kStep);
  }
}

}  // namespace tenfold::backends::cpu
