# Targets of deepgap: warnings as errors, one static library a module, one test program a module.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
find_program(DEEPGAP_CCACHE ccache)
if(DEEPGAP_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this ccache passes by whatever uses a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${DEEPGAP_CCACHE})
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# Not -O3, CMake's own: it costs a fifth of the build, and nothing here is hot enough to show it.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

add_library(deepgap_options INTERFACE)
target_include_directories(deepgap_options INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/src)
target_compile_options(deepgap_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  -Wno-missing-field-initializers -Werror)  # plain option structs are initialised by name, the rest is their defaults
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # What gcc 12 and 13 take for uninitialised or out of bounds in inlined std::variant, std::optional and std::vector is
  # neither; the sanitizer runs find what really is.
  target_compile_options(deepgap_options INTERFACE -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # gcc 12 sees overlaps in libstdc++ where there are none: "literal" + std::string (GCC bug 105651).
  target_compile_options(deepgap_options INTERFACE -Wno-restrict)
endif()
if(DEEPGAP_SANITIZE)
  target_compile_options(deepgap_options INTERFACE -fsanitize=${DEEPGAP_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(deepgap_options INTERFACE -fsanitize=${DEEPGAP_SANITIZE})
endif()
if(DEEPGAP_FUZZ)
  # The fuzzer sees which code an input reaches.
  target_compile_options(deepgap_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(DEEPGAP_STATIC)
  target_link_options(deepgap_options INTERFACE -static-libgcc -static-libstdc++)
endif()

# deepgap_module(NAME SOURCES a.cpp ... [DEPENDS module-or-target ...] [PRIVATE target ...])
# A module's library is deepgap_NAME. DEPENDS are visible to those who use it, PRIVATE only here.
function(deepgap_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;PRIVATE" ${ARGN})
  add_library(deepgap_${name} STATIC ${arg_SOURCES})
  target_link_libraries(deepgap_${name} PUBLIC deepgap_options ${arg_DEPENDS} PRIVATE ${arg_PRIVATE})
endfunction()

# Reading the standard library's and GoogleTest's headers is half of what a test costs to compile: they are compiled
# once. The library's own sources go without: they prove that each header compiles alone (tests/headers), and clang-tidy
# cannot read gcc's files. The preset asan-ubsan goes without altogether, so that no test lacks an include unseen.
if(DEEPGAP_TESTS AND DEEPGAP_PCH)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/test_headers.cpp CONTENT "// Only its precompiled header is wanted.\n")
  add_library(deepgap_test_headers OBJECT ${CMAKE_BINARY_DIR}/test_headers.cpp)
  target_link_libraries(deepgap_test_headers PRIVATE deepgap_options deepgap_fmt GTest::gmock GTest::gtest)
  target_precompile_headers(deepgap_test_headers PRIVATE
    <gmock/gmock.h> <gtest/gtest.h> <fmt/format.h>
    <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <fstream> <functional> <map> <memory> <numeric>
    <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>)
  # As the test programs are compiled, in everything that gcc compares.
  set_target_properties(deepgap_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(deepgap_test_headers PRIVATE -fPIE -fpch-preprocess $<$<CONFIG:Release>:-O0>)
endif()

# Every unit test program, whatever else the tree has.
add_custom_target(unit_tests)

# deepgap_test(NAME SOURCES a_test.cpp ... DEPENDS target ... [LABELS label ...] [ENVIRONMENT A=b ...] [NO_PCH])
# A test program deepgap_NAME_test; ctest knows each of its cases. Its label is `unit`, which the sanitizers run, unless
# LABELS has `statistical`: simulations that would take them an hour. NO_PCH: what it depends on wants compiler flags of
# its own.
function(deepgap_test name)
  if(NOT DEEPGAP_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "NO_PCH" "" "SOURCES;DEPENDS;LABELS;ENVIRONMENT" ${ARGN})
  add_executable(deepgap_${name}_test ${arg_SOURCES})
  target_link_libraries(deepgap_${name}_test PRIVATE deepgap_options ${arg_DEPENDS} deepgap_fmt GTest::gmock GTest::gtest_main)
  target_compile_definitions(deepgap_${name}_test PRIVATE DEEPGAP_SOURCE_FOLDER="${CMAKE_SOURCE_DIR}")
  if(NOT statistical IN_LIST arg_LABELS)
    # A test's own code runs once: optimising it costs more than it saves. What it tests is optimised.
    target_compile_options(deepgap_${name}_test PRIVATE $<$<CONFIG:Release>:-O0>)
    if(DEEPGAP_PCH AND NOT arg_NO_PCH)
      target_precompile_headers(deepgap_${name}_test REUSE_FROM deepgap_test_headers)
      target_compile_options(deepgap_${name}_test PRIVATE -fpch-preprocess)
    endif()
  endif()
  gtest_discover_tests(deepgap_${name}_test TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60)
  if(NOT statistical IN_LIST arg_LABELS)
    list(APPEND arg_LABELS unit)
    add_dependencies(unit_tests deepgap_${name}_test)
  endif()
  list(APPEND arg_ENVIRONMENT DEEPGAP_BUILD_FOLDER=${CMAKE_BINARY_DIR})
  # Not as its PROPERTIES, which take no lists: ctest reads this file after it has found the cases.
  set(properties ${CMAKE_CURRENT_BINARY_DIR}/deepgap_${name}_test_properties.cmake)
  file(WRITE ${properties} "\
foreach(case IN LISTS deepgap_${name}_test_TESTS)
  set_tests_properties(\"\${case}\" PROPERTIES LABELS \"${arg_LABELS}\" ENVIRONMENT \"${arg_ENVIRONMENT}\" TIMEOUT 600)
endforeach()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${properties})
endfunction()
