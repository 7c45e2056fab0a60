// Reading, mapping and atomic replacing of files, and what is left after failures.
#include "base/files/file.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <vector>

#include "tenfold/error.h"
#include "tenfold/internal/interrupts.h"

namespace tenfold {
namespace {

namespace fs = std::filesystem;

struct File : testing::Test {
  fs::path folder = fs::path(testing::TempDir()) / ("file" + std::to_string(getpid()));
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  std::string at(const char* name) const { return (folder / name).string(); }
  int entries() const { return static_cast<int>(std::distance(fs::directory_iterator(folder), {})); }
};

template <class F>
std::string io_error(F f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

#ifndef TENFOLD_SANITIZED   // sanitizers need the addresses that the limit forbids
TEST_F(File, MappingMoreThanThereIsRoomForIsOutOfMemory) {
  write_file(at("sparse"), "x");
  fs::resize_file(at("sparse"), std::uintmax_t{1} << 40);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  const rlimit tight{rlim_t{1} << 37, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &tight), 0);
  try {
    MappedFile::open(at("sparse"));
    ADD_FAILURE() << "it was mapped";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_memory) << error.what();
  }
  ::setrlimit(RLIMIT_AS, &before);
}
#endif

TEST_F(File, RoundTrip) {
  const std::string text("zero\0byte", 9);
  write_file(at("a"), text);
  EXPECT_EQ(read_file(at("a")), text);
  const auto mapped = MappedFile::open(at("a"));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(mapped->bytes().data()), mapped->bytes().size()), text);
  write_file(at("a"), "new");
  EXPECT_EQ(static_cast<char>(mapped->bytes()[0]), 'z');   // the old content lives as long as its mapping
  EXPECT_EQ(read_file(at("a")), "new");
  write_file(at("empty"), "");
  EXPECT_TRUE(MappedFile::open(at("empty"))->bytes().empty());
  EXPECT_EQ(entries(), 2);
}

TEST_F(File, ErrorsNamePathAndReason) {
  const std::string message = io_error([&] { read_file(at("absent")); });
  EXPECT_NE(message.find(at("absent")), std::string::npos);
  EXPECT_NE(message.find("No such file"), std::string::npos);
  EXPECT_NE(io_error([&] { MappedFile::open(folder.string()); }).find("directory"), std::string::npos);
  EXPECT_NE(io_error([&] { write_file(folder.string(), "x"); }).find("folder"), std::string::npos);
  EXPECT_NE(io_error([&] { write_file(at("no/such/place"), "x"); }).find("No such file"), std::string::npos);
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_NE(io_error([&] { read_file(at("pipe")); }).find("regular"), std::string::npos);
}

TEST_F(File, WithoutCommitNothingChanges) {
  write_file(at("a"), "old");
  { AtomicFile file(at("a")); file.write("new"); }
  EXPECT_EQ(read_file(at("a")), "old");
  EXPECT_EQ(entries(), 1);
}

TEST_F(File, WritesThroughLinksAndDevices) {
  write_file(at("real"), "old");
  fs::create_symlink("real", folder / "link");
  write_file(at("link"), "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(at("real")), "new");
  write_file("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

// A full disk and a kill, each in a child process.
TEST_F(File, FailedAndKilledWritesLeaveTheOldFile) {
  write_file(at("a"), "old");
  const auto in_child = [&](auto body) {
    const pid_t child = fork();
    if (child == 0) { body(); _exit(0); }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  };
  const int limited = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    try { write_file(at("a"), std::string(100000, 'x')); } catch (const Error& error) { _exit(error.kind() == ErrorKind::io ? 7 : 8); }
  });
  EXPECT_EQ(WEXITSTATUS(limited), 7);
  const int killed = in_child([&] { AtomicFile file(at("a")); file.write("half"); raise(SIGKILL); });
  EXPECT_TRUE(WIFSIGNALED(killed));
  EXPECT_EQ(read_file(at("a")), "old");
  EXPECT_EQ(entries(), 1);
}

// From now on this process dies where it renames a file.
void die_at_rename() {
  const auto is = [](unsigned call) { return sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1); };
  const sock_filter kill = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  std::vector<sock_filter> filter = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), is(SYS_rename), kill,
                                     is(SYS_renameat), kill, is(SYS_renameat2), kill, BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) _exit(77);
}

TEST_F(File, WhatAKillBeforeTheRenameLeftGoesAwayWithTheNextWrite) {
  write_file(at("a"), "old");
  const pid_t child = fork();
  if (child == 0) {
    die_at_rename();
    write_file(at("b"), "new names need no rename");
    write_file(at("a"), "new");
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "this system filters no system calls";
  ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  EXPECT_EQ(read_file(at("a")), "old");
  EXPECT_EQ(read_file(at("b")), "new names need no rename");
  EXPECT_EQ(entries(), 3);
  write_file(at("a"), "newer");
  EXPECT_EQ(read_file(at("a")), "newer");
  EXPECT_EQ(entries(), 2);
}

TEST_F(File, OnlyWhatNobodyWritesCountsAsLeftBehind) {
  write_file(at("a"), "old");
  write_file(at("a.12.0.tmp"), "left behind");
  write_file(at("a.13.0.tmp"), "being written");
  for (const char* name : {"a.tmp", "a.12.tmp", "a.12.x.tmp", "b.12.0.tmp", "a.12.0.tmp.bak"}) write_file(at(name), "a user's own");
  FileLock writer(at("a.13.0.tmp"));
  write_file(at("a"), "new");
  EXPECT_FALSE(fs::exists(at("a.12.0.tmp")));
  EXPECT_TRUE(fs::exists(at("a.13.0.tmp")));
  EXPECT_EQ(entries(), 7);
}

TEST_F(File, LocksLeaveNothingOfTheirOwn) {
  { FileLock lock(at("new")); }
  EXPECT_EQ(entries(), 0);
  write_file(at("empty"), "");
  { FileLock lock(at("empty")); }
  EXPECT_TRUE(fs::exists(at("empty")));   // somebody else's
  { FileLock lock(at("cache")); write_file(at("cache"), "content"); }
  EXPECT_EQ(read_file(at("cache")), "content");
}

TEST_F(File, LockExcludesOtherProcesses) {
  auto lock = std::make_unique<FileLock>(at("lock"));
  const pid_t child = fork();
  if (child == 0) {
    FileLock mine(at("lock"));
    _exit(fs::exists(at("released")) ? 0 : 1);
  }
  usleep(50000);
  write_file(at("released"), "");
  lock.reset();
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(File, WaitsForALockCanBeInterrupted) {
  const FileLock held(at("lock"));
  int looks = 0;
  const Interrupts interrupts([&] { return ++looks < 4; });
  try {
    FileLock mine(at("lock"));   // another open file: locks are theirs
    ADD_FAILURE() << "a lock was taken twice";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cancelled) << error.what();
  }
  EXPECT_EQ(looks, 4);
}

// What was read is this process's own, whatever happens to the file; a mapping would change, and end the process.
TEST_F(File, ReadBytesOutliveWhatIsWrittenOverThem) {
  for (const std::size_t size : {std::size_t{5000}, (std::size_t{5} << 20) + 17}) {
    const std::string text(size, 'a');
    write_file(at("a"), text);
    const auto read = MappedFile::read(at("a"));
    std::ofstream(at("a"), std::ios::in | std::ios::binary) << std::string(size, 'b');   // in place
    fs::resize_file(at("a"), 10);
    ASSERT_EQ(read->bytes().size(), size);
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(read->bytes().data()), size), text);
  }
  write_file(at("empty"), "");
  EXPECT_TRUE(MappedFile::read(at("empty"))->bytes().empty());
}

TEST_F(File, PiecesAreInsideTheFile) {
  write_file(at("a"), "0123456789");
  const OpenFile file(at("a"));
  EXPECT_EQ(file.size(), 10u);
  EXPECT_EQ(file.read(3, 4), "3456");
  EXPECT_NE(io_error([&] { file.read(8, 3); }).find("shorter"), std::string::npos);
}

TEST_F(File, ALockIsARegularFile) {
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_NE(io_error([&] { FileLock lock(at("pipe")); }).find("regular"), std::string::npos);
}

// A child process that holds a lock and does `body`; the parent goes on once the lock is held.
template <class Body>
pid_t holding(const std::string& lock, const std::string& held, Body body) {
  const pid_t child = fork();
  if (child == 0) {
    FileLock mine(lock);
    write_file(held, "");
    body();
    _exit(0);
  }
  while (!fs::exists(held)) usleep(1000);
  return child;
}

TEST_F(File, WhoHoldsALockAndIsStoppedIsNotWaitedForForEver) {
  const pid_t child = holding(at("lock"), at("held"), [] { raise(SIGSTOP); });
  std::string reported;
  const Log log([&](Severity, std::string_view text) { reported += text; });
  const std::string message = io_error([&] { FileLock mine(at("lock"), log, std::chrono::milliseconds(1500)); });
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_NE(message.find("process " + std::to_string(child)), std::string::npos) << message;
  EXPECT_NE(message.find("is stopped"), std::string::npos) << message;
  EXPECT_NE(reported.find("waiting for process " + std::to_string(child)), std::string::npos) << reported;
  FileLock mine(at("lock"));   // what a process held that was killed is free
}

TEST_F(File, WhoHoldsALockAndWorksIsWaitedFor) {
  const pid_t child = holding(at("lock"), at("held"), [] {
    const std::clock_t start = std::clock();
    while (std::clock() - start < 2 * CLOCKS_PER_SEC) {}
  });
  FileLock mine(at("lock"), {}, std::chrono::milliseconds(1500));
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace tenfold
