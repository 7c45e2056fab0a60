// Rings: order, what is dropped, two threads, and memory that another process may have spoilt.
#include "low_latency/ring/ring.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace tenfold::low_latency {
namespace {

struct Message {
  std::uint64_t number, copies[12];
};

struct TestRing {
  explicit TestRing(int cells)
      : bytes(RingMemory::bytes(cells, sizeof(Message)) + kLine),
        memory(cleared(), cells, sizeof(Message)),
        producer(memory),
        consumer(memory) {
    memory.clear();
  }
  void* cleared() {
    store.resize(bytes);
    return reinterpret_cast<void*>(whole_lines(reinterpret_cast<std::size_t>(store.data())));
  }
  bool push(std::uint64_t number, WhenFull when_full) {
    Message m{number, {}};
    for (std::uint64_t& copy : m.copies) copy = number;
    std::memcpy(producer.message(), &m, sizeof m);
    return producer.push(when_full, dropped);
  }
  std::int64_t pop() {
    const std::byte* const at = consumer.pop();
    if (!at) return -1;
    Message m;
    std::memcpy(&m, at, sizeof m);
    for (const std::uint64_t copy : m.copies) torn += copy != m.number;
    return static_cast<std::int64_t>(m.number);
  }
  std::size_t bytes;
  std::vector<std::byte> store;
  RingMemory memory;
  RingProducer producer;
  RingConsumer consumer;
  std::uint64_t dropped = 0, torn = 0;
};

TEST(Ring, RejectsWhenFull) {
  TestRing ring(3);
  EXPECT_EQ(ring.pop(), -1);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_TRUE(ring.push(i, WhenFull::reject));
  EXPECT_FALSE(ring.push(3, WhenFull::reject));
  EXPECT_EQ(ring.pop(), 0);
  EXPECT_TRUE(ring.push(4, WhenFull::reject));
  for (const std::int64_t expected : {1, 2, 4, -1}) EXPECT_EQ(ring.pop(), expected);
  EXPECT_EQ(ring.dropped, 0u);
}

TEST(Ring, DropsTheOldest) {
  TestRing ring(3);
  for (std::uint64_t i = 0; i < 8; ++i) EXPECT_TRUE(ring.push(i, WhenFull::drop_oldest));
  EXPECT_EQ(ring.dropped, 5u);
  for (const std::int64_t expected : {5, 6, 7, -1}) EXPECT_EQ(ring.pop(), expected);
}

TEST(Ring, KeepsTheNewest) {
  TestRing ring(3);
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_TRUE(ring.push(i, WhenFull::keep_newest));
  EXPECT_EQ(ring.dropped, 3u);   // 3 was pushed in place of 0, 1, 2
  for (const std::int64_t expected : {3, 4, -1}) EXPECT_EQ(ring.pop(), expected);
}

TEST(Ring, MixedPoliciesKeepOrder) {
  TestRing ring(4);
  std::uint64_t number = 0, got = 0;
  std::int64_t last = -1;
  unsigned random = 1;
  for (int step = 0; step < 200000; ++step) {
    random = random * 1664525u + 1013904223u;
    if (random >> 31) {
      number += ring.push(number, static_cast<WhenFull>((random >> 20) % 3));
    } else if (const std::int64_t popped = ring.pop(); popped >= 0) {
      EXPECT_GT(popped, last);
      last = popped, ++got;
    }
  }
  while (ring.pop() >= 0) ++got;
  EXPECT_EQ(got + ring.dropped, number);
  EXPECT_EQ(ring.torn, 0u);
}

// TENFOLD_RING_MESSAGES=1000000000 is the long form.
std::uint64_t messages() {
  const char* const text = std::getenv("TENFOLD_RING_MESSAGES");
  return text ? std::strtoull(text, nullptr, 10) : 1000000;
}

void send_through(WhenFull when_full) {
  // Where CPUs are shared, whoever waits for the other waits for its turn.
  const bool waits = when_full == WhenFull::reject;
  const std::uint64_t count = waits && messages() <= 1000000 ? messages() / 20 : messages();
  TestRing ring(waits && count > 1000000 ? 4096 : 16);
  std::atomic<bool> sent = false;
  std::uint64_t got = 0, out_of_order = 0;
  std::int64_t last = -1;
  const auto take = [&] {
    const std::int64_t popped = ring.pop();
    if (popped < 0) return false;
    out_of_order += popped <= last;
    last = popped, ++got;
    return true;
  };
  std::thread consumer([&] {
    for (bool over = false; !over;) {
      over = sent.load(std::memory_order_acquire);   // before the last look
      int idle = 0;
      while (take() || ++idle < 100) {}
    }
    while (take()) {}
  });
  for (std::uint64_t i = 0; i < count; ++i)
    while (!ring.push(i, when_full)) std::this_thread::yield();
  sent.store(true, std::memory_order_release);
  consumer.join();
  EXPECT_EQ(got + ring.dropped, count);
  EXPECT_EQ(out_of_order, 0u);
  EXPECT_EQ(ring.torn, 0u);
  EXPECT_EQ(last, static_cast<std::int64_t>(count) - 1) << "the newest is never dropped";
  EXPECT_TRUE(when_full != WhenFull::reject || ring.dropped == 0);
}

TEST(Ring, ManyMessagesWithReject) { send_through(WhenFull::reject); }
TEST(Ring, ManyMessagesWithDropOldest) { send_through(WhenFull::drop_oldest); }
TEST(Ring, ManyMessagesWithKeepNewest) { send_through(WhenFull::keep_newest); }

TEST(Ring, NonsenseFromAnotherProcessIsNotFollowed) {
  unsigned random = 7;
  for (int round = 0; round < 3000; ++round) {
    TestRing ring(4);
    for (std::uint64_t i = 0; i < 6; ++i) ring.push(i, WhenFull::drop_oldest);
    std::byte* const cells = static_cast<std::byte*>(ring.cleared());
    for (int i = 0; i < 8; ++i) {
      random = random * 1664525u + 1013904223u;
      cells[(random >> 8) % (4 * kLine)] = static_cast<std::byte>(random >> 24);
    }
    for (int i = 0; i < 20; ++i) ring.pop(), ring.push(9, WhenFull::drop_oldest);   // ends, and stays inside (ASan)
  }
}

}  // namespace
}  // namespace tenfold::low_latency
