# How programs and tests are added.

# penstock_unity(<target>...)
# With PENSTOCK_UNITY_BUILD eight of a target's files are compiled as one: much of a compilation is headers. It does not pay for fewer than three.
function(penstock_unity)
  set(files_at_once 8)
  if(PENSTOCK_SANITIZE MATCHES address)
    set(files_at_once 5)  # six of the engine's tests took the compiler 1.5 GB, which is what each job is given
  endif()
  foreach(target IN LISTS ARGV)
    get_target_property(sources ${target} SOURCES)
    list(LENGTH sources files)
    if(PENSTOCK_UNITY_BUILD AND files GREATER 2)
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files_at_once})
    endif()
  endforeach()
endfunction()

# penstock_unity_folder(<folder>)
# The same for a folder of the core: for those that nothing of is in an element's way, so that the library is as fast either way, and for all
# of them under a sanitizer, where nobody asks how fast it is.
function(penstock_unity_folder folder)
  if(NOT PENSTOCK_UNITY_BUILD)
    return()
  endif()
  get_target_property(files penstock_core SOURCES)
  list(FILTER files INCLUDE REGEX "/${folder}/[^/]+$")
  string(REPLACE "/" "_" group ${folder})
  set(number 0)
  foreach(file IN LISTS files)
    math(EXPR part "${number} / 8")
    math(EXPR number "${number} + 1")
    set_source_files_properties(${file} TARGET_DIRECTORY penstock_core PROPERTIES UNITY_GROUP ${group}_${part})
  endforeach()
endfunction()

# penstock_add_program(<name> <source>... [LIBS <target>...])
# A program in build/<preset>/bin with CLI11 and nlohmann-json at hand. It may include the private
# headers ("lib/..."), the version header ("lib/core/version.h") among them.
function(penstock_add_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBS")
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PENSTOCK_GENERATED_DIR})
  target_link_libraries(
    ${name} PRIVATE penstock_internal CLI11::CLI11 nlohmann_json::nlohmann_json ${arg_LIBS})
  penstock_unity(${name})
endfunction()

# penstock_add_example(<name> <source>)
# A program as a user would write it: public headers only. tests/examples runs it.
function(penstock_add_example name source)
  add_executable(example-${name} ${source})
  target_link_libraries(example-${name} PRIVATE penstock::penstock)
endfunction()

# penstock_show_precompiled(<target>)
# So that ccache, which looks at preprocessed text, sees which precompiled header was meant.
function(penstock_show_precompiled target)
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess> $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
endfunction()

# penstock_precompile_headers(<target> <header>...)
# Compiles these once for all of the target's files.
function(penstock_precompile_headers target)
  penstock_show_precompiled(${target})
  target_precompile_headers(${target} PRIVATE ${ARGN})
  # g++ 12 warns wrongly of an `a + "b"` of strings whose header is precompiled, and not where the same header is read.
  target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow>")
  # GCC keeps the size and the MD5 of each header in what it compiles, and reads one that differs again. ccache must not give one that
  # was made from other comments (ccache issue 1615); in this mode it compares the headers themselves.
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "env;CCACHE_DEPEND=1;${CMAKE_CXX_COMPILER_LAUNCHER}")
  endif()
endfunction()

# penstock_precompile(<target>)
# The target's files are compiled with tests/support/precompiled.h, which is compiled once, for test_support. All users must have its flags, so
# libraries are made for programs alone.
function(penstock_precompile target)
  if(NOT PENSTOCK_PRECOMPILED_HEADERS)
    return()
  endif()
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL EXECUTABLE)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE ${CMAKE_CXX_COMPILE_OPTIONS_PIE})
  endif()
  if(target STREQUAL test_support)
    penstock_precompile_headers(${target} <tests/support/precompiled.h>) # in brackets: no absolute path, so that ccache works across clones
  else()
    penstock_show_precompiled(${target})
    target_precompile_headers(${target} REUSE_FROM test_support)
  endif()
endfunction()

# penstock_add_test(<name> SOURCES <file>... [LIBS <target>...] [LABEL <label>]
#                   [ONE_ENTRY] [ALONE])
# A GoogleTest program with tests/support and nlohmann-json at hand. Each of its cases is a ctest entry
# of its own, found when ctest runs. Few and large test programs build faster than many small ones.
#   ONE_ENTRY  the whole program is one entry: for thousands of cases shorter than a process start
#   ALONE      nothing else runs meanwhile, because it measures time
#   LABEL      one of: `engine` runs under TSan too (those programs are the target engine_tests);
#              `slow` is left out under sanitizers; `golden` compares with TensorFlow's outputs
function(penstock_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ONE_ENTRY;ALONE" "LABEL" "SOURCES;LIBS")
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test-bin)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PENSTOCK_GENERATED_DIR})
  target_link_libraries(
    ${name} PRIVATE penstock_internal test_support GTest::gtest_main ${arg_LIBS})
  penstock_precompile(${name})
  penstock_unity(${name})
  if(arg_LABEL STREQUAL "engine")
    add_dependencies(engine_tests ${name})
  endif()
  set(properties RUN_SERIAL ${arg_ALONE} LABELS "${arg_LABEL}")
  if(arg_ONE_ENTRY OR arg_LABEL STREQUAL "slow")
    list(APPEND properties COST 100) # so ctest begins with it, and no long test is left alone at the end
  endif()
  if(arg_ONE_ENTRY)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES ${properties})
  else()
    # PRE_TEST: finding the cases at build time would run the program under a sanitizer there.
    # NO_PRETTY_VALUES: a parameter without operator<< would show as its bytes, padding included.
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES
                         PROPERTIES ${properties})
  endif()
endfunction()
