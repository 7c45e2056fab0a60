// What a build depends on beside the model, as text: for keys of caches and for people.
#pragma once

#include <span>
#include <string>

#include "tenfold/build.h"

namespace tenfold::builder {

std::string options_text(const BuildConfig& config);      // all of it: "fp16=0 bf16=0 ...", further lines for what is longer
std::string options_in_words(const BuildConfig& config);  // one line without typical inputs and labels
std::string hash_of(std::span<const std::byte> bytes);    // how many, and XXH3 of them in 128 bits: "12:0123...ef"

}  // namespace tenfold::builder
