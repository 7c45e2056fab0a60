// The windows of 8-bit channels-last images as rows that are a constant number of bytes apart, across lines of the image, too.
//
// The lines that a block of windows sees are copied with their borders, one behind the other: then window x + 1 starts `stride`
// pixels behind window x, and the first one of a line where the line before it ends. What lies between lines is computed and ignored.
// Lines that a vertical stride takes from one window to the next become neighbors, too.
//
// Bf16Windows lays out lines for bf16 by another plan: borders are not shared, pixels are padded to whole steps of k and sorted by the
// horizontal stride. Here the pixels of a window's line are one run of k, so that few channels fill steps without padding.
#pragma once

#include "backends/cpu/tactics/int8/conv_int8_common.h"

namespace tenfold::backends::cpu {

class ConvInt8Laid final : public Int8Laying {
 public:
  static constexpr std::int64_t kStep = 64;   // bytes of a step of k
  static bool takes(const ConvInt8Shape& shape, const Int8Kernels& kernels, std::int64_t block_rows);
  // How many blocks may be laid as one, and the bytes of these at most.
  static std::int64_t max_blocks(const ConvInt8Shape& shape, std::int64_t block_rows);
  static std::int64_t bytes(const ConvInt8Shape& shape, std::int64_t block_rows);

  ConvInt8Laid(const ConvInt8Shape& shape, const ConvInt8Extents& extents, const void* image, std::int32_t zero, std::int64_t block_rows,
               std::int64_t workers);
  std::int64_t images() const noexcept override { return images_; }
  std::int64_t blocks() const noexcept override { return images_ * blocks_; }
  std::int64_t max_blocks() const noexcept override { return line_rows_ > 0 ? max_blocks_ : 1; }
  Int8Laid lay(std::int64_t block, std::int64_t count, char* to, std::int32_t* offsets) const noexcept override;

 private:
  struct Piece {   // the lines from y0 on, each from its input pixel x0 on
    std::int64_t image, y0, x0, lines, pixels;
  };
  void copy(const Piece& piece, char* to, std::int32_t* offsets) const noexcept;
  const ConvInt8Shape& shape_;
  const ConvInt8Extents& extents_;
  const char* image_;
  std::int32_t zero_;
  std::int64_t images_, max_blocks_, blocks_;   // blocks: of an image
  std::int64_t pitch_, line_rows_;     // pixels of a line with its borders, and windows from one line to the next; 0: lines are cut
  std::int64_t rows_;                  // of a block
};

}  // namespace tenfold::backends::cpu
