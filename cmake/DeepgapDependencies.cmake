# What the core links, from the system's packages (scripts/install-packages.sh) and from the user's cache folder
# (scripts/fetch-onnx.sh, scripts/fetch-simdjson.sh, scripts/fetch-openvino.sh). Optional parts that are absent are said aloud.

if(NOT DEEPGAP_CACHE)
  execute_process(COMMAND ${CMAKE_SOURCE_DIR}/scripts/cache-folder.sh OUTPUT_VARIABLE DEEPGAP_CACHE
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()

if(DEEPGAP_STATIC)
  # Before any find_library: prefer archives where the distribution ships them.
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(ZLIB REQUIRED)
find_path(DEEPGAP_ZSTD_INCLUDE zstd.h REQUIRED)
find_library(DEEPGAP_ZSTD zstd REQUIRED)
if(DEEPGAP_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
if(DEEPGAP_BENCH)
  find_package(benchmark REQUIRED)
endif()

# Debian ships fmt as a shared library only.
if(DEEPGAP_STATIC)
  add_library(deepgap_fmt ALIAS fmt::fmt-header-only)
else()
  add_library(deepgap_fmt ALIAS fmt::fmt)
endif()

include(DeepgapOnnx)
include(DeepgapSimdjson)
