#!/usr/bin/env bash
# Uses the archive of `script/packages tgz` where it was unpacked; prints what passed. It needs bash and python3 without packages; a C++
# compiler with CMake or pkg-config is used where there is one.
#   tests/packages/use_tgz.sh FOLDER [--gpu]     FOLDER: the one with bin/ and lib/; --gpu: exec on cuda:0, too
set -euo pipefail
case ${1:-} in -h | --help | "") sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
top=$(cd "$1" && pwd) gpu=${2:-}
work=$(mktemp -d)
server=
trap 'if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi; rm -rf "$work"' EXIT
cd "$work"
# Nothing of another installation helps.
unset LD_LIBRARY_PATH PYTHONPATH TENFOLD_NVRTC_HELPER
export XDG_CACHE_HOME=$work/cache
passed() { echo "passed: $1"; }
fail() { echo "FAILED: $1"; if [ -e "$work/said" ]; then tail -20 "$work/said"; fi; exit 1; }

# y = Relu(x), x f32[3]
base64 -d >relu.onnx <<<'CAg6NgoMCgF4EgF5IgRSZWx1EgRyZWx1Wg8KAXgSCgoICAESBAoCCANiDwoBeRIKCggIARIECgIIA0IECgAQEQ=='

if command -v ldd >/dev/null; then
  for file in "$top"/bin/tenfold "$top"/bin/tenfold-server "$top"/lib/lib*.so "$top"/lib/tenfold/triton/*/*.so "$top"/libexec/tenfold/*; do
    ldd "$file" >said 2>&1 || fail "ldd $file"
    ! grep -q 'not found' said || fail "$file lacks libraries"
    ! grep -E 'lib(tenfold|simdjson|protobuf|nghttp2)' said | grep -vqF "$top/" || fail "$file takes libraries of another installation"
  done
  passed "all libraries are found, ours in the folder"
fi

"$top/bin/tenfold" --version >said 2>&1 || fail "tenfold --version"
passed "$(cat said) on $(sed -n 's/^PRETTY_NAME=//p' /etc/os-release), $(getconf GNU_LIBC_VERSION)"
"$top/bin/tenfold" exec --onnx=relu.onnx --saveEngine=relu.plan --device=cpu --iterations=3 --duration=0 --warmUp=0 >said 2>&1 || fail exec
passed "tenfold exec builds and runs a model"
# A user's line, as the guide of another engine has it.
cp relu.onnx model.onnx
[ "$(readlink "$top/bin/trtexec")" = tenfold ] || fail "trtexec is no name of tenfold"
(PATH=$top/bin:$PATH && trtexec --onnx=model.onnx --saveEngine=model.engine --fp16 --workspace=1024) >said 2>&1 || fail trtexec
grep -q '&&&& PASSED TensorRT.trtexec' said && [ -s model.engine ] || fail "what trtexec says"
passed "trtexec --onnx=model.onnx --saveEngine=model.engine --fp16 --workspace=1024"
if [ "$gpu" = --gpu ]; then
  "$top/bin/tenfold" exec --onnx=relu.onnx --device=cuda:0 --iterations=3 --duration=0 --warmUp=0 >said 2>&1 || fail "exec on cuda:0"
  passed "tenfold exec on $(sed -n 's/.*device = \(.*\), threads.*/\1/p' said)"
fi

# A request over HTTP and, as the frames of HTTP/2 that any client begins with, one byte of proof that gRPC answers.
cat >ask.py <<'END'
import json, socket, sys, time, urllib.request
http, grpc = int(sys.argv[1]), int(sys.argv[2])
for _ in range(600):
    try:
        if urllib.request.urlopen(f'http://127.0.0.1:{http}/v2/health/ready').status == 200:
            break
    except OSError:
        time.sleep(0.1)
else:
    raise SystemExit('the server is not ready after a minute')
body = {'inputs': [{'name': 'x', 'shape': [3], 'datatype': 'FP32', 'data': [-1, 0, 2]}]}
request = urllib.request.Request(f'http://127.0.0.1:{http}/v2/models/relu/infer', json.dumps(body).encode(),
                                 {'Content-Type': 'application/json'})
answer = json.load(urllib.request.urlopen(request))
assert answer['outputs'][0]['data'] == [0, 0, 2], answer
with socket.create_connection(('127.0.0.1', grpc), 10) as connection:
    connection.sendall(b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' + b'\0\0\0\4\0\0\0\0\0')
    head = connection.recv(9)
assert len(head) == 9 and head[3] == 4, head   # SETTINGS, with which every server of HTTP/2 begins
END
ports=$(python3 -c '
import socket
sockets = [socket.socket() for _ in range(3)]
for each in sockets: each.bind(("127.0.0.1", 0))
print(*(each.getsockname()[1] for each in sockets))')
read -r http grpc metrics <<<"$ports"
"$top/bin/tenfold" serve relu.onnx --http-port="$http" --grpc-port="$grpc" --metrics-port="$metrics" >said 2>&1 &
server=$!
python3 ask.py "$http" "$grpc" 2>asked || { cat asked; fail "requests"; }
kill "$server" && wait "$server" || fail "the server's end"
server=
passed "tenfold serve answers: HTTP, with the right numbers, and HTTP/2"

cat >use.cpp <<'END'
#include <cstdio>
#include "tenfold/build.h"
int main(int, char** files) {
  try {
    const tenfold::Engine engine = tenfold::build_file(files[1], tenfold::BuildConfig());
    tenfold::Tensor x(tenfold::DType::f32, {3});
    float* values = x.mutable_data<float>();
    values[0] = -1, values[1] = 0, values[2] = 2;
    const tenfold::Tensor y = engine.create_context()->run({x}).at(0);
    std::puts(y.as_double(0) == 0 && y.as_double(2) == 2 ? "right" : "wrong");
  } catch (const tenfold::Error& error) {
    std::puts(error.what());
  }
}
END
if ! command -v c++ >/dev/null; then echo "left out: programs in C++, without a compiler"; exit 0; fi
if command -v cmake >/dev/null && { command -v make || command -v ninja; } >/dev/null; then
  cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(use CXX)
find_package(Tenfold REQUIRED)
add_executable(use use.cpp)
target_link_libraries(use Tenfold::builder)
add_executable(use_shared use.cpp)
target_link_libraries(use_shared Tenfold::builder_shared)
END
  generator=$(command -v make >/dev/null && echo "Unix Makefiles" || echo Ninja)
  cmake -S . -B cmake -G "$generator" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$top" >said 2>&1 && cmake --build cmake >>said 2>&1 ||
    fail "find_package"
  [ "$(cmake/use relu.onnx)" = right ] && [ "$(cmake/use_shared relu.onnx)" = right ] || fail "programs by CMake"
  passed "programs in C++, static and shared, by find_package"
else
  echo "left out: find_package, without CMake"
fi
if command -v pkg-config >/dev/null; then
  # eval, for pkg-config quotes folders whose names have spaces
  eval "c++ -std=c++20 use.cpp -o use $(PKG_CONFIG_PATH=$top/lib/pkgconfig pkg-config --cflags --libs tenfold) \"-Wl,-rpath,\$top/lib\"" \
    >said 2>&1 || fail "pkg-config"
  [ "$(./use relu.onnx)" = right ] || fail "a program by pkg-config"
  passed "a program in C++, by pkg-config"
else
  echo "left out: pkg-config, which is not installed"
fi
