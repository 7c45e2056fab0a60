#!/usr/bin/env bash
# The way from a model to scores, stage by stage: trains and exports the models, builds their engines, smoke-tests them, compares them
# with ONNX Runtime, times them, and starts the runner on ticks, with its fallback. It ends with the exit code of the first stage that
# failed, which it names; what comes behind that is not begun.
#   pipeline.sh [FOLDER]       FOLDER: where models, ticks and scores are put (default: the one that it is called in)
#   PYTHON=...                 the Python that has tenfold, onnx, onnxruntime and pytest (python3)
#   ITERATIONS=N               calls that are timed (1000)
#   TRT_CI=1                   the comparison wants a GPU
set -uo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${PYTHON:-python3}
mkdir -p "${1:-.}" && cd "${1:-.}" || exit

stage() {
  local name=$1 code
  shift
  echo "== $name"
  "$@"
  code=$?
  [ $code = 0 ] && return
  echo "pipeline: the stage '$name' failed with exit code $code" >&2
  exit $code
}
runner() { "$python" "$here/pattern_engine/runner.py" --ticks ticks.csv --model-onnx models/toy_cnn.onnx --model-engine "$1" >"$2"; }

for model in toy_mlp toy_cnn; do
  stage "export $model" "$python" "$here/scripts/export_onnx_model.py" --model $model --output models/$model.onnx
  stage "build $model" "$python" "$here/scripts/build_trt_engine.py" --onnx models/$model.onnx --engine models/$model.engine \
    --max_workspace=256M --fp16
done
stage "smoke test toy_mlp" "$python" "$here/scripts/_trt_smoke.py"
stage "smoke test toy_cnn" "$python" "$here/scripts/_trt_smoke_cnn.py"
stage compare "$python" -m pytest -q -p no:cacheprovider "$here/tests/test_trt_vs_cpu.py"
stage time "$python" "$here/scripts/benchmark_trt_vs_onnx.py" --iterations "${ITERATIONS:-1000}"
stage "make ticks" "$python" "$here/scripts/make_ticks.py" ticks.csv
stage run runner models/toy_cnn.engine scores.csv
head -c 1000 models/toy_cnn.engine >models/damaged.engine
stage "run with a damaged engine" runner models/damaged.engine fallback_scores.csv
echo "== $(wc -l <scores.csv) scores are in scores.csv, and those without the engine in fallback_scores.csv"
