// What a build was asked for, as text for people; the key of the plan cache is plan_key.cpp's.
#pragma once

#include <span>
#include <string>

#include "tenfold/build.h"

namespace tenfold::builder {

std::string options_in_words(const BuildConfig& config);  // one line without typical inputs and labels
// What calibration and error budget came to, to be put behind it: "; calibrated by mse on 50 samples; ...". Empty without either.
std::string precision_in_words(const BuildReport& report);
std::string precision_in_words(const std::string& options);   // the same, of a plan that has it in its options
std::string hash_of(std::span<const std::byte> bytes);    // how many, and XXH3 of them in 128 bits: "12:0123...ef"

}  // namespace tenfold::builder
