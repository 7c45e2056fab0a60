// Plans of every operator with damaged bytes and right checksums: what the verifier accepts runs in its own memory, all else is refused.
//   TENFOLD_DAMAGE=COUNT[:SEED] build/release/plan_damage_test      other than the 20,000 of a usual run; says how many a second
//   TENFOLD_DAMAGE=@FILE build/release/plan_damage_test             a file that was kept, in this process
// Each batch runs in a process of its own. One that dies is run again, input by input, and the first that kills it is kept in the folder
// of temporary files: script/fuzz's plan_run repeats it (its first byte chooses the form).
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <random>

#include "base/check.h"
#include "base/files/file.h"
#include "case_plans.h"
#include "fuzz/plan_input.h"
#include "fuzz/plan_run.h"
#include "plan/verify.h"

namespace tenfold {
namespace {

constexpr int kBatch = 500;
constexpr std::uint8_t kSigned = 1 | 4;   // the form of to_plan(), for a CPU

class Damage {
 public:
  explicit Damage(const std::vector<tests::CasePlan>& plans) {
    for (const tests::CasePlan& made : plans) files_.push_back(plan::serialize(made.plan));
  }

  // Depends on the number alone.
  std::string input(std::uint64_t seed, std::uint64_t number) const {
    std::mt19937_64 random(seed * 1'000'003 + number);
    std::string bytes = files_[random() % files_.size()];
    const auto at = [&](std::size_t place) { return reinterpret_cast<unsigned char&>(bytes[place]); };
    const auto [begin, end] = metadata(bytes);
    for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
      const std::size_t place = random() % 16 ? begin + random() % (end - begin) : random() % bytes.size();
      const auto old = at(place);
      switch (random() % 6) {
        case 0:
        case 1: bytes[place] = 0; break;
        case 2: bytes[place] = static_cast<char>(0xff); break;
        case 3: bytes[place] = static_cast<char>(old + (random() % 2 ? 1 : -1)); break;
        case 4: bytes[place] = static_cast<char>(random()); break;
        default: {   // a field like another one
          const std::size_t width = random() % 2 ? 4 : 8, from = begin + random() % (end - begin);
          if (std::max(from, place) + width <= end) bytes.replace(place, width, bytes.substr(from, width));
        }
      }
    }
    return bytes;
  }

 private:
  static std::pair<std::size_t, std::size_t> metadata(const std::string& file) {
    const std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(file.data()),
                                       reinterpret_cast<const std::byte*>(file.data()) + plan::kHeaderBytes + plan::kTableEntryBytes);
    const auto offset = fuzz::get<std::uint64_t>(bytes, plan::kHeaderBytes + 8);   // the first section
    return {offset, offset + fuzz::get<std::uint64_t>(bytes, plan::kHeaderBytes + 16)};
  }
  std::vector<std::string> files_;
};

// What a load and a run say; an error of ours ends the process.
bool try_plan(const std::string& bytes, const std::shared_ptr<backends::Backend>& cpu) {
  try {
    plan::Plan p = fuzz::to_plan(kSigned, std::as_bytes(std::span(bytes)));
    plan::verify(p, *cpu, ir::Registry::builtin());
    fuzz::run(std::move(p), cpu);
    return true;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) std::fprintf(stderr, "%s\n", error.what()), std::abort();
    return false;
  }
}

// The status of a process that tries inputs [first, end). `accepted` counts in its answer, a byte of the status is too little for that.
int in_a_process(const Damage& damage, std::uint64_t seed, std::uint64_t first, std::uint64_t end, int& accepted) {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit seconds{60, 60}, core{0, 0};
    ::setrlimit(RLIMIT_CPU, &seconds), ::setrlimit(RLIMIT_CORE, &core);
    const std::shared_ptr<backends::Backend> cpu = backends::open_backend("cpu");
    int count = 0;
    for (std::uint64_t i = first; i < end; ++i) count += try_plan(damage.input(seed, i), cpu);
    _exit(::write(ends[1], &count, sizeof count) == sizeof count ? 0 : 1);
  }
  ::close(ends[1]);
  int count = 0, status = -1;
  if (::read(ends[0], &count, sizeof count) == sizeof count) accepted += count;
  ::close(ends[0]);
  ::waitpid(child, &status, 0);
  return status;
}

TEST(PlanDamage, EndsInAnErrorOrARun) {
  std::uint64_t count = 20'000, seed = 1;
  const char* const expected = std::getenv("TENFOLD_DAMAGE");
  if (expected && *expected == '@') {
    try_plan(read_file(expected + 1).substr(1), backends::open_backend("cpu"));
    return;
  }
  if (expected) {
    char* rest = nullptr;
    count = std::strtoull(expected, &rest, 10);
    if (*rest == ':') seed = std::strtoull(rest + 1, nullptr, 10);
  }
  std::vector<std::string> left_out;
  const Damage damage(tests::case_plans(2, left_out));
  const auto start = std::chrono::steady_clock::now();
  int accepted = 0, killed = 0, unused = 0;
  for (std::uint64_t first = 0; first < count; first += kBatch) {
    const std::uint64_t end = std::min(first + kBatch, count);
    if (in_a_process(damage, seed, first, end, accepted) == 0) continue;
    for (std::uint64_t i = first; i < end; ++i) {
      const int status = in_a_process(damage, seed, i, i + 1, unused);
      if (status == 0) continue;
      const std::string file = cat(testing::TempDir(), "plan_damage_", seed, "_", i);
      write_file(file, std::string(1, static_cast<char>(kSigned)) + damage.input(seed, i));
      ADD_FAILURE() << "input " << i << " of seed " << seed << " ended its process with status " << status << ": " << file;
      ++killed;
    }
    if (killed > 20) break;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%llu inputs, %.0f a second, %d accepted and run, %d ended their process\n", static_cast<unsigned long long>(count),
              static_cast<double>(count) / seconds, accepted, killed);
  EXPECT_GT(accepted, 0);
}

}  // namespace
}  // namespace tenfold
