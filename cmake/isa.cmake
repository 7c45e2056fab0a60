# Kernels compiled once per instruction set and isolated from each other.
#
# An inline function shared by a plain and an -mavx512f object may be linked in either form, by link order: an illegal
# instruction on the smaller machine. So all objects of one instruction set are joined with `ld -r --force-group-allocation`
# and every symbol but the kernel tables (extern "C" tenfold_*) is made local.
#
# src/backends/cpu/kernels/<room>/*.cpp compiled for avx2 and for avx512 (TENFOLD_ISA names which)
# src/backends/cpu/kernels/vnni/*.cpp   compiled for vnni (avx512 + AVX512_VNNI)
# src/backends/cpu/kernels/avx512bf16/*.cpp   compiled for avx512bf16 (avx512 + VNNI + AVX512_BF16: Zen 4 has it, and all with AMX)
# src/backends/cpu/kernels/amx/*.cpp    compiled for amx (avx512bf16 + VBMI + AMX tile, int8, bf16)
# A file exports one table per instruction set: `extern "C" const GemmF32Kernels TENFOLD_TABLE(gemm_f32);`
set(TENFOLD_FLAGS_avx2 -mavx2 -mfma -mf16c -mbmi -mbmi2 -mlzcnt -mtune=haswell)
set(TENFOLD_FLAGS_avx512 ${TENFOLD_FLAGS_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd
  -mprefer-vector-width=512 -mtune=skylake-avx512 -Wno-uninitialized -Wno-maybe-uninitialized)   # GCC 12 on its own intrinsics
set(TENFOLD_FLAGS_vnni ${TENFOLD_FLAGS_avx512} -mavx512vnni)
set(TENFOLD_FLAGS_avx512bf16 ${TENFOLD_FLAGS_vnni} -mavx512bf16)
set(TENFOLD_FLAGS_amx ${TENFOLD_FLAGS_avx512bf16} -mavx512vbmi -mamx-tile -mamx-int8 -mamx-bf16)

set(TENFOLD_KERNELS "" CACHE PATH "Build folder whose kernels to take, instead of compiling them: they are a third of a sanitizer build")

# Sets `result` to the joined objects of every instruction set.
function(tenfold_isa_objects result root)
  set(joined "")
  if(TENFOLD_KERNELS)
    file(GLOB joined ${TENFOLD_KERNELS}/kernels_*.o)
    if(NOT joined)
      message(FATAL_ERROR "TENFOLD_KERNELS: ${TENFOLD_KERNELS} has no kernels; build its target tenfold_backends first")
    endif()
    set_source_files_properties(${joined} PROPERTIES EXTERNAL_OBJECT TRUE)
    set(${result} ${joined} PARENT_SCOPE)
    return()
  endif()
  foreach(isa avx2 avx512 vnni avx512bf16 amx)
    if(isa STREQUAL "avx2" OR isa STREQUAL "avx512")
      file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${root}/kernels/*.cpp)
      list(FILTER sources EXCLUDE REGEX "/kernels/(vnni|avx512bf16|amx)/")
    else()
      file(GLOB sources CONFIGURE_DEPENDS ${root}/kernels/${isa}/*.cpp)
    endif()
    list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
    if(sources)
      add_library(tenfold_kernels_${isa} OBJECT ${sources})
      target_compile_options(tenfold_kernels_${isa} PRIVATE ${TENFOLD_FLAGS_${isa}} -O3 -ffp-contract=fast
        -fno-math-errno -fno-trapping-math -fno-exceptions -fno-rtti -fno-stack-protector
        -Wno-uninitialized -Wno-maybe-uninitialized)   # GCC 12 warns inside its own AVX-512 headers
      target_compile_definitions(tenfold_kernels_${isa} PRIVATE TENFOLD_ISA=${isa} TENFOLD_ISA_${isa}=1)
      target_include_directories(tenfold_kernels_${isa} PRIVATE ${CMAKE_SOURCE_DIR}/src)
      target_link_libraries(tenfold_kernels_${isa} PRIVATE tenfold_options)
      target_precompile_headers(tenfold_kernels_${isa} PRIVATE <immintrin.h>)   # a third of a second
      # Fuzzers look for faults in what reads files; instrumented kernels would take them half of the time to build.
      set_target_properties(tenfold_kernels_${isa} PROPERTIES TENFOLD_UNSANITIZED "${TENFOLD_FUZZ}" CXX_VISIBILITY_PRESET hidden)
      set(object ${CMAKE_BINARY_DIR}/kernels_${isa}.o)
      set(objects "$<FILTER:$<TARGET_OBJECTS:tenfold_kernels_${isa}>,EXCLUDE,[.](gch|pch)$>")
      add_custom_command(OUTPUT ${object}
        COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${object}.all ${objects}
        COMMAND ${CMAKE_OBJCOPY} -w --keep-global-symbol=tenfold_* ${object}.all ${object}
        DEPENDS tenfold_kernels_${isa} ${objects} COMMAND_EXPAND_LISTS VERBATIM
        COMMENT "Isolating ${isa} kernels")
      list(APPEND joined ${object})
    endif()
  endforeach()
  set_source_files_properties(${joined} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${result} ${joined} PARENT_SCOPE)
endfunction()
