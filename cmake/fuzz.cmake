# libFuzzer targets (tests/fuzz/<name>_fuzz.cpp becomes fuzz_<name>): the `fuzz` preset, which needs clang and its run-time library.
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "TENFOLD_FUZZ needs clang (Debian: clang libclang-rt-14-dev): configure with `cmake --preset fuzz`")
endif()

function(tenfold_fuzz name)
  add_executable(fuzz_${name} ${CMAKE_SOURCE_DIR}/tests/fuzz/${name}_fuzz.cpp)
  target_link_libraries(fuzz_${name} PRIVATE ${ARGN})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
endfunction()

tenfold_fuzz(graph_text tenfold_ops)
tenfold_fuzz(onnx_import tenfold_onnx_import)
tenfold_fuzz(plan_load tenfold_plan)
tenfold_fuzz(plan_run tenfold_runtime)
tenfold_fuzz(calibration_cache tenfold_quant)
tenfold_fuzz(sentencepiece tenfold_text)
tenfold_fuzz(tokenizer tenfold_text)
tenfold_fuzz(blocked_operands tenfold_onnx_import)
