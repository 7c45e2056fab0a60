// Int8Kernels::stream: products of one tile of rows times four of columns, or two times two, one after the other.
//
// Storing a tile waits for its sums, and loads behind it wait for the store. So the sums of a product are stored in the first step of the
// next one, each just before its register starts anew, and their rows get their epilogue a product later still, between the steps of k: the
// vector units work while tiles multiply. 64 columns at a time make whole lines of memory.
#pragma once

#include <algorithm>

#include "backends/cpu/kernels/amx/int8_bytes_epilogue.h"
#include "backends/cpu/kernels/amx/tile_registers.h"

namespace tenfold::backends::cpu {
namespace {

constexpr std::int64_t kStreamStep = 2048;                              // bytes of a panel for a step of k: two tiles
constexpr int kStreamTile = 256, kStreamRows = 16, kStreamNext = 1024;  // sums of a tile; its rows; bytes of a tile of B
// Sums 0 to 3 of a product, apart. What is stored and what is read meanwhile differ in the lower 12 bits of their addresses.
constexpr int kStreamAt[4] = {0, kStreamTile, 4 * kStreamTile, 5 * kStreamTile};

struct StreamedGemm {
  const char *a[2], *b[2];  // tiles of rows, panels; two of one kind or none of them
  std::int64_t stride[2];
  const std::int32_t *offsets, *init;
  std::int64_t steps;
  std::int32_t* stored;  // where the sums before go
};

// A tile whose rows wait for their epilogue.
struct StreamWaiting {
  const Int8Stream::Tile* tile = nullptr;
  const std::int32_t* sums = nullptr;
  std::int64_t column = 0;
  int vectors = 4;
};

// Tiles 0-3 are sums, 4-7 operands.
template <int kSum>
inline void stream_start(std::int32_t* to, const std::int32_t* init) {
  store_tile<kSum>(to + kStreamAt[kSum], 64);
  if (init)
    load_tile<kSum>(init, 0);
  else
    zero_tile<kSum>();
}

// Rows in tile 4, columns in 5, 6, 7 and 5 again.
template <bool kSigned, int kSum>
inline void stream_add_row() {
  multiply_int8<kSigned, kSum, 4, 5 + kSum % 3>();
}

// Rows in tiles 4 and 5, columns in 6 and 7.
template <bool kSigned, int kSum>
inline void stream_add_square() {
  multiply_int8<kSigned, kSum, 4 + kSum / 2, 6 + kSum % 2>();
}

template <bool kSigned, bool kFour, bool kFirst>
inline void stream_row_step(const StreamedGemm& p, const char* a, const char* b, const char* b2) {
  const auto start = [&]<int kSum>() {
    const bool exists = kFour || kSum < 2;
    if constexpr (kFirst) stream_start<kSum>(p.stored, exists && p.init ? p.init + 16 * kSum : nullptr);
  };
  _tile_loadd(4, a, p.stride[0]);
  _tile_loadd(5, b, 64);
  _tile_loadd(6, b + kStreamNext, 64);
  if constexpr (kFour) _tile_loadd(7, b2, 64);
  start.template operator()<0>();
  stream_add_row<kSigned, 0>();
  if constexpr (kFour) _tile_loadd(5, b2 + kStreamNext, 64);
  start.template operator()<1>();
  stream_add_row<kSigned, 1>();
  start.template operator()<2>();
  if constexpr (kFour) stream_add_row<kSigned, 2>();
  start.template operator()<3>();
  if constexpr (kFour) stream_add_row<kSigned, 3>();
}

// One tile of rows times four of columns, or two.
template <bool kSigned, bool kFour, class Between>
__attribute__((always_inline)) inline void stream_row(const StreamedGemm& p, Between&& between) {
  const char *b = p.b[0], *b2 = p.b[1];
  stream_row_step<kSigned, kFour, true>(p, p.a[0] + p.offsets[0], b, b2);
  between();
  for (std::int64_t s = 1; s < p.steps; ++s) {
    b += kStreamStep, b2 += kStreamStep;
    stream_row_step<kSigned, kFour, false>(p, p.a[0] + p.offsets[s], b, b2);
    between();
  }
}

template <bool kSigned, bool kTwo, bool kFirst>
inline void stream_square_step(const StreamedGemm& p, std::int64_t s, const char* b) {
  const auto start = [&]<int kSum>() {
    if constexpr (kFirst) stream_start<kSum>(p.stored, p.init ? p.init + kSum % 2 * 16 : nullptr);
  };
  _tile_loadd(6, b, 64);
  _tile_loadd(7, b + kStreamNext, 64);
  _tile_loadd(4, p.a[0] + p.offsets[s], p.stride[0]);
  if constexpr (kTwo) _tile_loadd(5, p.a[1] + p.offsets[s], p.stride[1]);
  start.template operator()<0>();
  stream_add_square<kSigned, 0>();
  start.template operator()<1>();
  stream_add_square<kSigned, 1>();
  start.template operator()<2>();
  if constexpr (kTwo) stream_add_square<kSigned, 2>();
  start.template operator()<3>();
  if constexpr (kTwo) stream_add_square<kSigned, 3>();
}

// Two tiles of rows, or one, times two of columns.
template <bool kSigned, bool kTwo, class Between>
__attribute__((always_inline)) inline void stream_square(const StreamedGemm& p, Between&& between) {
  const char* b = p.b[0];
  stream_square_step<kSigned, kTwo, true>(p, 0, b);
  between();
  for (std::int64_t s = 1; s < p.steps; ++s) {
    b += kStreamStep;
    stream_square_step<kSigned, kTwo, false>(p, s, b);
    between();
  }
}

template <class Epilogue, bool kSigned, bool kSquare>
class Streamer {
 public:
  explicit Streamer(const Int8Stream& s) : s_(s), epilogue_(s.epilogue), each_((kStreamRows + s.steps - 1) / s.steps) {}

  void run() {
    const std::int64_t panel = s_.steps * kStreamStep;
    const std::int64_t products = kSquare ? (s_.tile_count + 1) / 2 * 2 : s_.tile_count;
    for (std::int64_t column = 0; column < s_.columns; column += 64) {
      const std::int64_t next = s_.fetch_ahead ? std::clamp<std::int64_t>(s_.columns - column - 64, 0, 64) : 0;
      const char* b = s_.b + column / 32 * panel;
      ahead_ = b + 2 * panel;
      lines_ = next / 32 * panel / 64;
      each_line_ = (lines_ + products * s_.steps - 1) / (products * s_.steps);
      if constexpr (kSquare)
        squares(column, b, panel);
      else
        rows(column, b, panel);
    }
    epilogue();
  }

 private:
  void rows(std::int64_t column, const char* b, std::int64_t panel) {
    const bool four = s_.columns - column >= 64;
    for (std::int64_t t = 0; t < s_.tile_count; ++t) {
      const Int8Stream::Tile& tile = s_.tiles[t];
      const StreamedGemm p = {{tile.a, nullptr}, {b, b + panel}, {tile.stride, 0}, s_.offsets, init_of(column), s_.steps, stored_};
      beside_epilogue([&](auto&& between) __attribute__((always_inline)) {
        four ? stream_row<kSigned, true>(p, between) : stream_row<kSigned, false>(p, between);
      });
      stored_ = ring_ + turn_ * 2 * kStreamTile;
      push(&tile, stored_, column, four ? 4 : 2);
      turn_ ^= 1;
    }
  }
  void squares(std::int64_t column, const char* b, std::int64_t panel) {
    for (std::int64_t t = 0; t < s_.tile_count; t += 2) {
      const Int8Stream::Tile *upper = &s_.tiles[t], *lower = t + 1 < s_.tile_count ? upper + 1 : nullptr;
      std::int32_t* const sums = ring_ + turn_ * 8 * kStreamTile;
      for (int half = 0; half < 2; ++half) {
        const StreamedGemm p = {{upper->a, lower ? lower->a : nullptr},
                                 {b + half * panel, nullptr},
                                 {upper->stride, lower ? lower->stride : 0},
                                 s_.offsets,
                                 init_of(column + half * 32),
                                 s_.steps,
                                 stored_};
        beside_epilogue([&](auto&& between) __attribute__((always_inline)) {
          lower ? stream_square<kSigned, true>(p, between) : stream_square<kSigned, false>(p, between);
        });
        stored_ = sums + half * 2 * kStreamTile;
      }
      push(upper, sums, column, 4);
      push(lower, sums + 4 * kStreamTile, column, 4);
      turn_ ^= 1;
    }
  }
  const std::int32_t* init_of(std::int64_t column) const { return s_.init ? s_.init + column : nullptr; }

  // Runs a product; the tile that has waited longest gets its epilogue between its steps. What rows need lies in registers: a load from an
  // address whose lower 12 bits are those of a tile that is being stored would wait for it.
  template <class Product>
  __attribute__((always_inline)) inline void beside_epilogue(Product&& product) {
    const StreamWaiting& e = waiting_[first_++ % kWaiting];
    // Of the tile whose epilogue is next the residual is asked for now.
    const StreamWaiting& next = waiting_[first_ % kWaiting];
    std::int64_t soon = Epilogue::kResidual && first_ != last_ && next.tile ? next.tile->at + next.column : -1;
    Epilogue epilogue = epilogue_;
    epilogue.columns(s_.epilogue, e.column, e.vectors);
    const std::int64_t count = e.tile ? e.tile->count : 0, each = each_, each_line = each_line_;
    const std::int64_t line_rows = s_.line_rows, line_outputs = s_.line_outputs, row_elements = s_.row_elements;
    std::int64_t row = 0, x = e.tile ? e.tile->x : 0, at = e.tile ? e.tile->at : 0;
    const char *const all = static_cast<const char*>(s_.epilogue.residual.data), *const residual = all + e.column;
    char* const out = static_cast<char*>(s_.out) + e.column;
    const std::int32_t* const sums = e.sums;
    const bool four = e.vectors == 4;
    const char* ahead = ahead_;
    std::int64_t lines = lines_;
    const auto until = [&](std::int64_t to) __attribute__((always_inline)) {
      for (; row < to; ++row) {
        if (x < line_outputs) {
          const std::int32_t* const from = sums + row * 16;
          const auto part = [&](int i) __attribute__((always_inline)) { return from + (kSquare ? i * kStreamTile : kStreamAt[i]); };
          four ? epilogue.template row<4>(part, residual + at, out + at) : epilogue.template row<2>(part, residual + at, out + at);
          at += row_elements;
          if (Epilogue::kResidual && soon >= 0) _mm_prefetch(all + soon, _MM_HINT_T0), soon += row_elements;
        }
        if (++x == line_rows) x = 0;
      }
    };
    product([&]() __attribute__((always_inline)) {
      const std::int64_t now = std::min(each_line, lines);
      for (std::int64_t i = 0; i < now; ++i, ahead += 64) _mm_prefetch(ahead, _MM_HINT_T1);
      lines -= now;
      until(std::min(row + each, count));
    });
    until(count);
    ahead_ = ahead;
    lines_ = lines;
  }

  // Field by field: a load of several fields would wait for the stores of each.
  void push(const Int8Stream::Tile* tile, const std::int32_t* sums, std::int64_t column, int vectors) {
    StreamWaiting& e = waiting_[last_++ % kWaiting];
    e.tile = tile, e.sums = sums, e.column = column, e.vectors = vectors;
  }
  void epilogue() {
    stream_start<0>(stored_, nullptr);
    stream_start<1>(stored_, nullptr);
    stream_start<2>(stored_, nullptr);
    stream_start<3>(stored_, nullptr);
    while (first_ != last_) beside_epilogue([](auto&&) {});
  }

  static constexpr unsigned kWaiting = 4;
  alignas(4096) std::int32_t ring_[kSquare ? 16 * kStreamTile : 8 * kStreamTile];
  const Int8Stream& s_;
  const Epilogue epilogue_;
  const std::int64_t each_;  // rows whose epilogue runs in a step
  StreamWaiting waiting_[kWaiting] = {};
  unsigned first_ = 0, last_ = kSquare ? 3 : 2;  // none of these has a tile
  int turn_ = 0;
  std::int32_t* stored_ = ring_ + 2 * kStreamTile;
  const char* ahead_ = nullptr;
  std::int64_t lines_ = 0, each_line_ = 0;
};

template <class Epilogue>
void int8_stream_with(const Int8Stream& s) {
  // Beyond, panels come from the second cache in each product, and tiles of two rows ask for half as much of them.
  constexpr std::int64_t kFirstCacheSteps = 16;
  const bool square = s.steps > kFirstCacheSteps && s.columns % 64 == 0;
  const auto run = [&]<bool kSigned>() {
    if (square)
      Streamer<Epilogue, kSigned, true>(s).run();
    else
      Streamer<Epilogue, kSigned, false>(s).run();
  };
  s.is_signed ? run.template operator()<true>() : run.template operator()<false>();
}

template <bool kMiddle>
void int8_stream_residual(const Int8Stream& s) {
  const Int8EpilogueArgs& f = s.epilogue;
  const bool plain = int8_plain_bytes(f), counts = f.residual.type == Int8Type::u8 && f.residual.zero == 0;
  if (plain && counts)
    int8_stream_with<Int8BytesEpilogue<ResidualBytes::counts, kMiddle, true>>(s);
  else if (plain)
    int8_stream_with<Int8BytesEpilogue<ResidualBytes::any, kMiddle, true>>(s);
  else
    int8_stream_with<Int8BytesEpilogue<ResidualBytes::any, kMiddle, false>>(s);
}

void int8_stream(const Int8Stream& s) {
  if (s.epilogue.residual.data)
    s.epilogue.middle_scale != 0 ? int8_stream_residual<true>(s) : int8_stream_residual<false>(s);
  else if (int8_plain_bytes(s.epilogue))
    int8_stream_with<Int8BytesEpilogue<ResidualBytes::none, false, true>>(s);
  else
    int8_stream_with<Int8BytesEpilogue<ResidualBytes::none, false, false>>(s);
}

}  // namespace
}  // namespace tenfold::backends::cpu
