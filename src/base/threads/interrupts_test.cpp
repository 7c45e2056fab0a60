// Interrupts: who is asked, and what a refusal does.
#include "tenfold/internal/interrupts.h"

#include <gtest/gtest.h>

#include <thread>

#include "tenfold/error.h"

namespace tenfold {
namespace {

TEST(Interrupts, TheInnermostOfThisThreadIsAsked) {
  ask_whether_to_go_on();   // nobody: nothing happens
  EXPECT_FALSE(interruptible());
  EXPECT_FALSE(interrupted());
  int outer = 0, inner = 0;
  const Interrupts first([&] { return ++outer, true; });
  {
    const Interrupts second([&] { return ++inner, false; });
    try {
      ask_whether_to_go_on();
      FAIL() << "it goes on";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::cancelled);
    }
    EXPECT_TRUE(interruptible());
    EXPECT_TRUE(interrupted());
    std::thread([] { ask_whether_to_go_on(); }).join();
  }
  ask_whether_to_go_on();
  EXPECT_EQ(outer, 1);
  EXPECT_EQ(inner, 2);
}

}  // namespace
}  // namespace tenfold
