// Which places names of devices mean.
#include "device_pool/device_place.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <string>

#include "tenfold/error.h"

namespace tenfold::serving {
namespace {

int own_processor() {
  cpu_set_t own;
  CPU_ZERO(&own);
  if (sched_getaffinity(0, sizeof own, &own) != 0) return 0;
  int first = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(first), &own)) ++first;
  return first;
}

TEST(DevicePlace, RangesOfProcessors) {
  const std::string own = std::to_string(own_processor());
  const std::vector<std::string> names{"cpu:" + own + "+" + own, "cuda", "cuda:1"};
  const std::vector<DevicePlace> places = places_of(names, 3);
  EXPECT_EQ(places[0].processors, std::vector<int>{own_processor()});
  EXPECT_EQ(places[0].device, "cpu");
  EXPECT_EQ(places[0].threads, 1) << "no more than it has processors";
  EXPECT_EQ(places[1].device, "cuda:0");
  EXPECT_EQ(places[2].device, "cuda:1");
  EXPECT_TRUE(places[2].on_gpu());
}

TEST(DevicePlace, DevicesOfAllProcessorsShareThem) {
  const std::vector<std::string> names{"cpu", "cpu"};
  for (const DevicePlace& place : places_of(names, 0))
    EXPECT_EQ(place.threads, std::max(1, static_cast<int>(usable_processors()) / 2));
  EXPECT_EQ(places_of(std::vector<std::string>{"cpu"}, 0)[0].threads, 0) << "as many as it would take alone";
}

TEST(DevicePlace, RefusesWrongNames) {
  for (const char* name : {"", "cpu:", "cpu:x", "cpu:3-1", "cpu:-1", "cpu:99999", "gpu", "cuda:x", "tpu:0"}) {
    try {
      places_of(std::vector<std::string>{name}, 0);
      ADD_FAILURE() << name;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::invalid_argument);
      EXPECT_NE(std::string(e.what()).find("'" + std::string(name) + "'"), std::string::npos) << e.what();
    }
  }
}

TEST(DevicePlace, ThreadsKeepToTheirProcessors) {
  cpu_set_t before;
  CPU_ZERO(&before);
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  DevicePlace place;
  place.processors = {own_processor()};
  keep_to(place);
  EXPECT_EQ(usable_processors(), 1u);
  EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
}  // namespace tenfold::serving
