# Compiler set-up shared by every target: ccache and a fast linker if present, warnings, sanitizers.
# (GCC 12 reports overflows inside std::string that cannot happen; those three warnings are off.)
find_package(Threads REQUIRED)
find_program(TENFOLD_CCACHE ccache)
if(TENFOLD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers need these sloppiness settings, else ccache never hits; and comments count, for GCC knows a header that the
  # precompiled one holds by its whole text: one from the cache with other comments ends in redefinitions.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_COMMENTS=true CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=true ${TENFOLD_CCACHE})
endif()
find_program(TENFOLD_MOLD mold)
if(TENFOLD_MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT TENFOLD_SANITIZE)
  add_link_options(-fuse-ld=mold)
endif()

add_library(tenfold_options INTERFACE)
target_include_directories(tenfold_options INTERFACE $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)
target_compile_options(tenfold_options INTERFACE -Wall -Wextra -Wvla -Walloca
  -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds -Wno-missing-field-initializers -fno-math-errno -ffp-contract=off
  $<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-warning-option> $<$<BOOL:${TENFOLD_WERROR}>:-Werror>
  # What GCC 12 concludes from the flow of optimized code depends on inlining, and is wrong now and then: told, no error.
  $<$<AND:$<BOOL:${TENFOLD_WERROR}>,$<CXX_COMPILER_ID:GNU>>:-Wno-error=maybe-uninitialized>
  $<$<AND:$<BOOL:${TENFOLD_WERROR}>,$<CXX_COMPILER_ID:GNU>>:-Wno-error=dangling-pointer>
  $<$<AND:$<BOOL:${TENFOLD_WERROR}>,$<CXX_COMPILER_ID:GNU>>:-Wno-error=free-nonheap-object> $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
if(TENFOLD_SANITIZE)
  # With both of them GCC (12.2 and others; its bug 110027) misplaces variables that want 64 bytes: AVX-512 code crashes where a
  # distribution's compiler has the protector on.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(tenfold_options INTERFACE -fno-stack-protector)
  endif()
  target_compile_options(tenfold_options INTERFACE
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:TENFOLD_UNSANITIZED>>>:-fsanitize=${TENFOLD_SANITIZE}
    -fno-omit-frame-pointer -fno-sanitize-recover=undefined>)
  target_link_options(tenfold_options INTERFACE -fsanitize=${TENFOLD_SANITIZE})
  add_compile_definitions(TENFOLD_SANITIZED)
endif()
