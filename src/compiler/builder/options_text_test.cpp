// Options that a plan keeps, and what of them people are shown.
#include "builder/options_text.h"

#include <gtest/gtest.h>

#include "tenfold/internal/options_shown.h"

namespace tenfold::builder {
namespace {

TEST(OptionsText, DefaultsAreNotShown) {
  BuildConfig config;
  config.threads = 3;
  EXPECT_EQ(options_shown(options_in_words(config)), "threads 3") << options_in_words(config);
  config.fp16 = true, config.tf32 = false, config.optimization_level = 1, config.workspace_bytes = 5 << 20;
  config.tactic_sources = static_cast<std::uint32_t>(TacticSource::reference) | static_cast<std::uint32_t>(TacticSource::native);
  config.disabled_passes = {"fuse_norm"};
  const std::string text = options_shown(options_in_words(config));
  EXPECT_TRUE(text.starts_with("fp16, no tf32, optimization level 1, tactic sources reference+native, workspace 5 MiB, threads 3; "))
      << text;
  EXPECT_NE(text.find("fuse_norm"), std::string::npos);
}

}  // namespace
}  // namespace tenfold::builder
