// Interrupts: who is asked, and what a refusal does.
#include "tenfold/internal/interrupts.h"

#include <gtest/gtest.h>

#include <thread>

#include "tenfold/error.h"

namespace tenfold {
namespace {

TEST(Interrupts, AllOfThisThreadAreAsked) {
  throw_if_cancelled();   // nobody: nothing happens
  EXPECT_FALSE(interruptible());
  EXPECT_FALSE(interrupted());
  int outer = 0, inner = 0;
  const Interrupts first([&] { return ++outer, true; });
  {
    const Interrupts second([&] { return ++inner, false; }, [] { return std::string("it took too long"); });
    try {
      throw_if_cancelled();
      FAIL() << "it goes on";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::cancelled);
      EXPECT_STREQ(e.what(), "it took too long");
    }
    EXPECT_TRUE(interruptible());
    EXPECT_TRUE(interrupted());
    std::thread([] { throw_if_cancelled(); }).join();
  }
  throw_if_cancelled();
  EXPECT_EQ(outer, 1);
  EXPECT_EQ(inner, 2);
}

// Who asked to stop is heard, though work inside of it has a limit of its own.
TEST(Interrupts, TheOuterOneEndsTheWorkOfTheInner) {
  const Interrupts first([] { return false; });
  const Interrupts second([] { return true; }, [] { return std::string("never"); });
  EXPECT_EQ(who_ends_work(), &first);
  EXPECT_THROW(throw_if_cancelled(), Error);
}

}  // namespace
}  // namespace tenfold
