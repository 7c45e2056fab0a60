// --data=python:FILE.py:NAME: samples that a Python process makes. It writes frames to a pipe, "S 12 345\n", then as many bytes of a text
// that says where they come from, and of arrays: S: a sample as .npz, A: as .npy, s and a: many samples behind one another; E: an error,
// whose text is in the place of the arrays; '.': the end.
//
// The process runs once. Its arrays go into a file without a name, for samples are asked for more than once.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "data/data.h"
#include "flags/flags.h"
#include "tenfold/error.h"

extern char** environ;

namespace tenfold::cli {
namespace {

constexpr const char* kProgram = R"(
import inspect, io, os, sys, traceback, zipfile
out = os.fdopen(os.dup(1), 'wb')
os.dup2(2, 1)   # what the file prints is no frame
path, name = sys.argv[1:3]

def send(kind, where, payload=b''):
    where = where.encode('utf-8', 'replace')
    out.write(b'%s %d %d\n' % (kind, len(where), len(payload)) + where + payload)
    out.flush()

def fail(line, text):
    send(b'E', path + (', line %d' % line if line else ''), text.encode('utf-8', 'replace'))
    os._exit(1)

def fail_with(error):
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == path else lines[-1] if lines else 0
    fail(line, '%s: %s' % (type(error).__name__, error))

def array(value, line):
    try:
        value = np.asarray(value)
    except Exception as error:
        fail(line, 'a sample is a %s, no array: %s' % (type(value).__name__, error))
    if value.dtype == object or value.dtype.kind not in 'fiubU':
        fail(line, 'a sample is an array or a dict from names of inputs to arrays of numbers, not of %s' % (
            'objects' if value.dtype == object else value.dtype))
    return value

def give(item, line, number, whole):
    where = '%s%s, sample %d' % (path, ', line %d' % line if line else '', number)
    data = io.BytesIO()
    if isinstance(item, dict):
        with zipfile.ZipFile(data, 'w') as archive:
            for key, value in item.items():
                if not isinstance(key, str):
                    fail(line, 'a key of sample %d is %r, not the name of an input' % (number, key))
                with archive.open(key + '.npy', 'w', force_zip64=True) as member:
                    np.lib.format.write_array(member, array(value, line), allow_pickle=False)
    else:
        np.lib.format.write_array(data, array(item, line), allow_pickle=False)
    kind = b'S' if isinstance(item, dict) else b'A'
    send(kind.lower() if whole else kind, where, data.getvalue())

def samples(source):
    line = getattr(getattr(source, '__code__', None), 'co_firstlineno', 0)
    if callable(source):
        needed = [p for p in inspect.signature(source).parameters.values()
                  if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        if len(needed) == 1:   # of the number of the sample
            number = 0
            while (item := source(number)) is not None:
                yield item, line, False
                number += 1
            return
        source = source()
    if isinstance(source, (dict, np.ndarray)):
        yield source, line, True   # many samples
        return
    try:
        steps = iter(source)
    except TypeError:
        fail(line, "'%s' is a %s: an iterable or a function of arrays or dicts is expected" % (name, type(source).__name__))
    for item in steps:
        frame = getattr(steps, 'gi_frame', None)
        yield item, frame.f_lineno if frame else line, False

try:
    import numpy as np
except ImportError as error:
    fail(0, '%s has no numpy, which carries arrays: %s (TENFOLD_PYTHON=... names another Python)' % (sys.executable, error))
try:
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    scope = {'__name__': 'tenfold_data', '__file__': path}
    with open(path, 'rb') as file:
        exec(compile(file.read(), path, 'exec'), scope)
    if name not in scope:
        fail(0, "there is no '%s' in it" % name)
    for number, (item, line, whole) in enumerate(samples(scope[name])):
        give(item, line, number, whole)
    send(b'.', path)
except BaseException as error:
    fail_with(error)
os._exit(0)   # threads of the file may go on
)";

constexpr long kMaxBytes = 1L << 33;   // of a frame
int patience() {                        // seconds for a frame
  const char* const given = std::getenv("TENFOLD_PYTHON_SECONDS");  // tests set it
  return given ? std::atoi(given) : 600;
}

class Process {
 public:
  Process(const std::string& file, const std::string& name) : file_(file) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) failed(std::string("no pipe: ") + std::strerror(errno));
    const char* const given = std::getenv("TENFOLD_PYTHON");
    const std::string python = given && *given ? given : "python3";
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    const std::string words[] = {python, "-c", kProgram, file, name};
    char* arguments[6] = {};
    for (int i = 0; i < 5; ++i) arguments[i] = const_cast<char*>(words[i].c_str());
    const int error = ::posix_spawnp(&pid_, python.c_str(), &actions, nullptr, arguments, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]), pipe_ = ends[0];
    if (error != 0) {
      pid_ = -1, ::close(pipe_);
      failed("'" + python + "' does not start: " + std::strerror(error) + " (TENFOLD_PYTHON=... names another Python)");
    }
  }
  ~Process() {
    if (pid_ > 0) ::kill(pid_, SIGKILL), ::waitpid(pid_, nullptr, 0), ::close(pipe_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  struct Frame {
    char kind = '.';
    std::string where, payload;
  };
  Frame next() {
    std::string head;
    while (head.size() < 64 && !head.ends_with('\n')) head += read(1);
    long where = -1, payload = -1;
    char kind = 0;
    if (std::sscanf(head.c_str(), "%c %ld %ld", &kind, &where, &payload) != 3 || where < 0 || payload < 0 || where > kMaxBytes ||
        payload > kMaxBytes)
      failed("what its process writes is no sample");
    Frame frame{kind, read(where), read(payload)};
    if (kind == 'E') throw Error(ErrorKind::io, "--data=python: " + frame.where + ": " + frame.payload);
    ++frames_;
    return frame;
  }

 private:
  [[noreturn]] void failed(const std::string& why) const { throw Error(ErrorKind::io, "--data=python:" + file_ + ": " + why); }
  std::string read(long bytes) {
    std::string text(static_cast<std::size_t>(bytes), '\0');
    for (std::size_t done = 0; done < text.size();) {
      pollfd ready{pipe_, POLLIN, 0};
      const int answer = ::poll(&ready, 1, patience() * 1000);
      if (answer < 0 && errno == EINTR) continue;
      if (answer == 0) failed("gave nothing for " + std::to_string(patience()) + " s after " + std::to_string(frames_) + " samples");
      const ssize_t got = ::read(pipe_, text.data() + done, text.size() - done);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) ended();
      done += static_cast<std::size_t>(got);
    }
    return text;
  }
  [[noreturn]] void ended() {
    int status = 0;
    const bool known = ::waitpid(pid_, &status, 0) == pid_;
    pid_ = -1, ::close(pipe_);
    const std::string how = !known               ? "ended"
                            : WIFSIGNALED(status) ? "was ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
                                                        ::strsignal(WTERMSIG(status)) + ")"
                                                  : "ended with status " + std::to_string(WEXITSTATUS(status));
    failed("its process " + how + " after " + std::to_string(frames_) + " samples, before it was done");
  }

  std::string file_;
  pid_t pid_ = -1;
  int pipe_ = -1;
  int frames_ = 0;
};

// The pieces that came so far.
class Spool {
 public:
  Spool(const std::string& file, const std::string& name) : process_(std::make_unique<Process>(file, name)), kept_(std::tmpfile()) {
    if (!kept_) throw Error(ErrorKind::io, std::string("--data=python: no temporary file for its samples: ") + std::strerror(errno));
  }
  ~Spool() {
    if (kept_) std::fclose(kept_);
  }
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  std::optional<formats::ArrayBytes> piece(std::size_t number) {
    while (process_ && number >= pieces_.size()) take(process_->next());
    if (number >= pieces_.size()) return {};
    const Piece& p = pieces_[number];
    formats::ArrayBytes bytes{p.what, std::string(p.size, '\0'), p.alone, p.one_sample};
    if (std::fseek(kept_, p.at, SEEK_SET) != 0 || std::fread(bytes.bytes.data(), 1, p.size, kept_) != p.size)
      throw Error(ErrorKind::io, "--data=python: its samples cannot be read back");
    return bytes;
  }

 private:
  struct Piece {
    std::string what;
    long at = 0;
    std::size_t size = 0;
    bool alone = false, one_sample = false;
  };
  void take(const Process::Frame& frame) {
    if (frame.kind == '.') return process_.reset();
    std::fseek(kept_, 0, SEEK_END);
    pieces_.push_back({frame.where, std::ftell(kept_), frame.payload.size(), frame.kind == 'A' || frame.kind == 'a',
                       frame.kind == 'A' || frame.kind == 'S'});
    if (std::fwrite(frame.payload.data(), 1, frame.payload.size(), kept_) != frame.payload.size() || std::fflush(kept_) != 0)
      throw Error(ErrorKind::io, std::string("--data=python: its samples cannot be kept in a temporary file: ") + std::strerror(errno));
  }

  std::unique_ptr<Process> process_;
  std::FILE* kept_;
  std::vector<Piece> pieces_;
};

}  // namespace

formats::ArraySource arrays_of_python(const std::string& file_and_name) {
  const std::size_t colon = file_and_name.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == file_and_name.size())
    throw UsageError("--data=python:" + file_and_name + " is not python:FILE.py:NAME, such as python:samples.py:batches");
  const auto spool = std::make_shared<Spool>(file_and_name.substr(0, colon), file_and_name.substr(colon + 1));
  return [spool](std::size_t number) { return spool->piece(number); };
}

}  // namespace tenfold::cli
