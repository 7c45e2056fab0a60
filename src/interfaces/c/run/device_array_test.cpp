// Memory of one's own on the CPU, from C.
#include "tenfold/c/device_array.h"

#include <gtest/gtest.h>

#include <cstring>

namespace {

TEST(CDeviceArray, IsMadeToldCopiedAndShared) {
  const std::int64_t shape[2] = {2, 2};
  tenfold_device_array* array = nullptr;
  ASSERT_EQ(tenfold_device_array_create(nullptr, "cpu", "f32", shape, 2, &array), TENFOLD_OK);
  tenfold_device_array_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(tenfold_device_array_get_info(array, &info), TENFOLD_OK);
  EXPECT_STREQ(info.device, "cpu");
  EXPECT_STREQ(info.dtype, "f32");
  EXPECT_TRUE(info.rank == 2 && info.shape[1] == 2 && info.bytes == 16);
  const float in[4] = {1, 2, 3, 4};
  float out[4] = {9, 9, 9, 9};
  ASSERT_EQ(tenfold_device_array_copy_to(array, out, sizeof out, nullptr), TENFOLD_OK);
  EXPECT_EQ(out[3], 0);
  ASSERT_EQ(tenfold_device_array_copy_from(array, in, sizeof in, nullptr), TENFOLD_OK);
  EXPECT_EQ(std::memcmp(info.memory, in, sizeof in), 0);
  DLManagedTensorVersioned* tensor = nullptr;
  DLManagedTensor* plain = nullptr;
  ASSERT_EQ(tenfold_device_array_to_dlpack(array, &tensor), TENFOLD_OK);
  ASSERT_EQ(tenfold_device_array_to_dlpack_unversioned(array, &plain), TENFOLD_OK);
  tenfold_device_array_free(array);
  EXPECT_EQ(std::memcmp(tensor->dl_tensor.data, in, sizeof in), 0);
  EXPECT_EQ(plain->dl_tensor.data, tensor->dl_tensor.data);
  tensor->deleter(tensor);
  plain->deleter(plain);
}

TEST(CDeviceArray, RefusalsHaveAStatusAndWords) {
  const std::int64_t shape[1] = {2};
  tenfold_device_array* array = nullptr;
  EXPECT_EQ(tenfold_device_array_create(nullptr, nullptr, "f32", shape, 1, &array), TENFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(tenfold_device_array_create(nullptr, "cpu", "string", shape, 1, &array), TENFOLD_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(tenfold_last_error(), "numbers"), nullptr) << tenfold_last_error();
  EXPECT_EQ(tenfold_device_array_create(nullptr, "cpu", "f32", shape, 1, nullptr), TENFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(tenfold_device_array_copy_to(nullptr, nullptr, 0, nullptr), TENFOLD_INVALID_ARGUMENT);
  tenfold_device_stream* stream = nullptr;
  EXPECT_EQ(tenfold_device_stream_create(nullptr, "cpu", &stream), TENFOLD_UNSUPPORTED);
  EXPECT_EQ(tenfold_device_stream_synchronize(nullptr, "cpu", nullptr), TENFOLD_UNSUPPORTED);
  EXPECT_EQ(tenfold_device_stream_handle(nullptr), nullptr);
  tenfold_device_stream_free(nullptr);
  tenfold_device_array_free(nullptr);
  const char* device = nullptr;
  EXPECT_EQ(tenfold_engine_device(nullptr, &device), TENFOLD_INVALID_ARGUMENT);
}

}  // namespace
