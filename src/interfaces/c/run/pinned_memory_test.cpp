// Pinned memory from C, where there is no GPU: ordinary memory, and errors that say what is missing.
#include "tenfold/c/pinned_memory.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tenfold/device.h"

namespace {

TEST(CPinnedMemory, IsMadeRegisteredAndTold) {
  tenfold_pinned_memory* memory = nullptr;
  ASSERT_EQ(tenfold_pinned_memory_create(nullptr, "cpu", 1000, &memory), TENFOLD_OK) << tenfold_last_error();
  tenfold_pinned_memory_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(tenfold_pinned_memory_get_info(memory, &info), TENFOLD_OK);
  EXPECT_TRUE(info.bytes == 1000 && info.pinned == 0 && reinterpret_cast<std::uintptr_t>(info.memory) % 64 == 0);
  EXPECT_EQ(static_cast<const char*>(info.memory)[999], 0);
  tenfold_pinned_memory_free(memory);
  char own[64] = "mine";
  ASSERT_EQ(tenfold_pinned_memory_register(nullptr, "cpu", own, sizeof own, &memory), TENFOLD_OK);
  ASSERT_EQ(tenfold_pinned_memory_get_info(memory, &info), TENFOLD_OK);
  EXPECT_EQ(info.memory, own);
  tenfold_pinned_memory_free(memory);
  EXPECT_STREQ(own, "mine");
}

TEST(CPinnedMemory, RefusalsHaveAStatusAndWords) {
  tenfold_pinned_memory* memory = nullptr;
  EXPECT_EQ(tenfold_pinned_memory_create(nullptr, nullptr, 8, &memory), TENFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(tenfold_pinned_memory_create(nullptr, "cpu", 8, nullptr), TENFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(tenfold_pinned_memory_create(nullptr, "cpu", std::size_t{1} << 63, &memory), TENFOLD_OUT_OF_MEMORY);
  EXPECT_EQ(tenfold_pinned_memory_register(nullptr, "cpu", nullptr, 8, &memory), TENFOLD_INVALID_ARGUMENT);
  char byte = 0;
  EXPECT_EQ(tenfold_pinned_memory_register(nullptr, "cpu", &byte, 0, &memory), TENFOLD_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(tenfold_last_error(), "1 byte or more"), nullptr) << tenfold_last_error();
  tenfold_pinned_memory_info info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(tenfold_pinned_memory_get_info(nullptr, &info), TENFOLD_INVALID_ARGUMENT);
  tenfold_pinned_memory_free(nullptr);
  if (tenfold::why_no_gpu().empty()) return;
  EXPECT_EQ(tenfold_pinned_memory_create(nullptr, "cuda", 8, &memory), TENFOLD_DEVICE);
  EXPECT_NE(std::strstr(tenfold_last_error(), "GPU"), nullptr) << tenfold_last_error();
}

}  // namespace
