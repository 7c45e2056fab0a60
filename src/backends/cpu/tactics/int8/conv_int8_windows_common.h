// The windows of 8-bit channels-last images as rows of a product: where they lie, or gathered.
//
// A window is one contiguous run of bytes for each of its lines, and weights are packed in that order.
#pragma once

#include <optional>

#include "backends/cpu/tactics/int8/conv_int8_laid_common.h"

namespace tenfold::backends::cpu {

// How kernels read windows, and so how a window's lines lie in k.
struct ConvInt8Lines {
  enum How { gathered, by_tap, by_line, laid } how = gathered;
  std::int64_t count;   // of lines
  std::int64_t pitch;   // bytes from one to the next: what is read as lines has whole groups of k
  ConvInt8Lines(const ConvInt8Shape& shape, const Int8Kernels& kernels, std::int64_t block_rows);
};

class ConvInt8Windows final : public Int8Rows {
 public:
  ConvInt8Windows(const ConvInt8Shape& shape, const ConvInt8Extents& extents, const void* image, bool is_signed, std::int32_t zero,
                  const Int8Kernels& kernels, std::int64_t block_rows, std::int64_t workers);
  const char* direct(std::int64_t group, std::int64_t row, std::int64_t& stride) const noexcept override;
  const char* end() const noexcept override { return end_; }
  const Int8Laying* laying() const noexcept override { return laid_ ? &*laid_ : nullptr; }
  void fill(const Int8Kernels& kernels, std::int64_t group, std::int64_t row, std::int64_t rows, std::int64_t k, std::int64_t count,
            char* to, std::int64_t stride) const noexcept override;
  bool find(std::int64_t group, std::int64_t row, std::int64_t rows, Int8TapTable& table) const noexcept override;

 private:
  friend struct ConvInt8Lines;
  struct Place {   // of the first tap of a window, in an image
    std::int64_t n;
    Three at;
  };
  template <class F>
  void for_each_place(std::int64_t row, std::int64_t rows, F&& f) const noexcept;
  bool inside_window(const Place& place, char* to) const noexcept;
  void window(const Int8Kernels& kernels, std::int64_t group, const Place& place, std::int64_t first, std::int64_t last,
              char* to) const noexcept;
  void run_of_taps(const Int8Kernels& kernels, const char* pixels, std::int64_t x, std::int64_t from, std::int64_t until,
                   char* to) const noexcept;
  void tap_by_tap(const Int8Kernels& kernels, const char* pixels, std::int64_t x, std::int64_t from, std::int64_t until,
                  char* to) const noexcept;
  void fill_border(const Int8Kernels& kernels, std::int64_t count, char* to) const noexcept;
  bool line_inside(const Place& place, std::int64_t a, std::int64_t b) const noexcept;
  const char* address_of(std::int64_t group, const Place& place) const noexcept;
  void find_taps(const Place* edges, const std::int64_t* edge_rows, std::int64_t edge_count, std::int64_t rows,
                 Int8TapTable& table) const noexcept;
  void find_lines(const Place* edges, const std::int64_t* edge_rows, std::int64_t edge_count, std::int64_t rows,
                  Int8TapTable& table) const noexcept;

  static constexpr std::int64_t kBorder = 2048, kShortLine = 32;
  const ConvInt8Shape& shape_;
  const ConvInt8Extents& extents_;
  ConvInt8Lines lines_;
  std::optional<ConvInt8Laid> laid_;
  const char *image_, *end_;
  Three last_inside_;       // first taps of the last windows that do not cross the border behind them
  const char* last_read_;   // first tap of the last window that may be read where it lies
  bool signed_, merged_, small_lines_;
  int flip_;
  char border_[kBorder];  // the zero point, which counts as 0
};

}  // namespace tenfold::backends::cpu
