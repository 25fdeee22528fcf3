# What can be switched, and the compile flags that follow from it.
include(CheckLinkerFlag)

# Tests, benchmarks and examples are about all components.
set(with_programs OFF)
if(PROJECT_IS_TOP_LEVEL AND PENSTOCK_WANTED STREQUAL all_components)
  set(with_programs ON)
endif()
option(PENSTOCK_BUILD_TESTS "Build the tests" ${with_programs})
option(PENSTOCK_BUILD_BENCH "Build the benchmark programs" ${with_programs})
option(PENSTOCK_BUILD_EXAMPLES "Build the examples" ${with_programs})
if((PENSTOCK_BUILD_TESTS OR PENSTOCK_BUILD_BENCH OR PENSTOCK_BUILD_EXAMPLES) AND NOT PENSTOCK_WANTED STREQUAL all_components)
  message(FATAL_ERROR "tests, benchmarks and examples need all components: switch them off, or set PENSTOCK_COMPONENTS to all")
endif()
option(PENSTOCK_PRECOMPILED_HEADERS "Compile what most tests include once for all of them" ON)
option(PENSTOCK_UNITY_BUILD "Compile tests and programs eight files at a time: for whoever builds everything at once" OFF)  # one changed file takes longer
option(PENSTOCK_INSTALL "Have install rules" ${PROJECT_IS_TOP_LEVEL})
option(PENSTOCK_WERROR "Treat warnings as errors" OFF)
set(PENSTOCK_SANITIZE "" CACHE STRING "Sanitizers: address,undefined or thread")
set(PENSTOCK_TBB_ROOT "" CACHE PATH "Prefix of a oneTBB to use instead of the system's (TSan needs one)")
set(PENSTOCK_SHARED_DIR "${PROJECT_SOURCE_DIR}/../shared" CACHE PATH
    "Real data and golden cases beside the repository; tests that need them skip where it is absent")

# In another project these two are its own to decide.
if(PROJECT_IS_TOP_LEVEL)
  option(BUILD_SHARED_LIBS "Build a shared library" OFF)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # so that the static library can go into a shared one
set(PENSTOCK_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)

# Everything is hidden but what the public headers declare: each of them has a `#pragma GCC visibility`.
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

# The same arithmetic on every machine: without this, g++ fuses a * b + c wherever the target can.
add_compile_options(-ffp-contract=off)
add_compile_definitions($<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)

# A file that stands for eight names them by their whole paths, and __FILE__ would have it: ccache must know it in every clone.
if(PENSTOCK_UNITY_BUILD)
  add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
endif()

# clang checks locks as lib/base/mutex.h has them; tests/compile_fail/locks.py asks whether it would miss one.
set(PENSTOCK_LOCK_WARNINGS -Wthread-safety -Wthread-safety-beta)

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)  # also read by tests/layering/listed_sources.py
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  add_compile_options(-Wall -Wextra -Wconversion -Wshadow)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    add_compile_options(${PENSTOCK_LOCK_WARNINGS})
  endif()
  if(PENSTOCK_WERROR)
    add_compile_options(-Werror)  # .ci/run does: a missing lock stops its phase `asan`
  endif()
endif()

if(PENSTOCK_SANITIZE)
  # vptr is off because it needs the type information of every class that is visible nowhere else.
  set(flags -fsanitize=${PENSTOCK_SANITIZE} -fno-omit-frame-pointer)
  if(PENSTOCK_SANITIZE MATCHES undefined)
    list(APPEND flags -fno-sanitize=vptr -fno-sanitize-recover=undefined)
  endif()
  add_compile_options(${flags})
  add_link_options(${flags})
endif()

# Faster builds where the tools are there.
find_program(PENSTOCK_CCACHE ccache)
mark_as_advanced(PENSTOCK_CCACHE)
if(PENSTOCK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PENSTOCK_CCACHE})
  # What a prefix map does shows in the preprocessed text, and its path would be another one in every clone.
  list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_IGNOREOPTIONS=-fmacro-prefix-map=*)
  if(PENSTOCK_PRECOMPILED_HEADERS)  # without this ccache keeps nothing that was compiled with them; no source of ours names a time or a date
    list(INSERT CMAKE_CXX_COMPILER_LAUNCHER 1 CCACHE_SLOPPINESS=pch_defines,time_macros)
  endif()
endif()
check_linker_flag(CXX -fuse-ld=lld PENSTOCK_HAVE_LLD)
if(PENSTOCK_HAVE_LLD AND PROJECT_IS_TOP_LEVEL)
  add_link_options(-fuse-ld=lld)
endif()
