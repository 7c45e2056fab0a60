// What tenfold generate is asked for, and its two ways: texts that are continued, or times of prompts and steps.
#pragma once

#include <string>
#include <vector>

#include "console.h"
#include "tenfold/decoder.h"

namespace tenfold::cli {

struct GenerateWish {
  std::string model, prompt_file, cache;
  std::vector<std::string> prompts;
  bool no_cache = false, quiet = false, help = false, json = false, benchmark = false;
  int prompt_tokens = 512, iterations = 3;   // of the benchmark
  GenerateCall call;
  DecoderOptions options;
  Console console;
};

void generate_texts(const GenerateWish& w, const Decoder& decoder);
void generate_benchmark(const GenerateWish& w, const Decoder& decoder);

}  // namespace tenfold::cli
