// What tenfold embed is asked for, and its two ways: vectors into a file, or times of batches.
#pragma once

#include <string>
#include <vector>

#include "console.h"
#include "embed/text_windows.h"
#include "tenfold/encoder.h"

namespace tenfold::cli {

struct EmbedWish {
  std::string model, in, out, column, prompt, cache, calibration;
  bool resume = false, no_cache = false, quiet = false, help = false, benchmark = false;
  std::vector<int> batch_sizes = {1, 8, 16, 32, 64, 128};
  int iterations = 100;
  std::string json;  // where the benchmark's results go; empty: nowhere
  EncoderOptions options;
  Console console;
};

void embed_file(const EmbedWish& w, const Encoder& encoder, TextWindows& windows);
// `texts`: what batches are made of, over and over; not empty.
void embed_benchmark(const EmbedWish& w, const Encoder& encoder, const std::vector<std::string>& texts);
// Where the encoder computes, in which precision: "cpu:0, cpu:1", "int8".
std::string devices_text(const Encoder& encoder);
std::string precision_text(const Encoder& encoder);

}  // namespace tenfold::cli
