# simdjson, as scripts/fetch-simdjson.sh built it, as the target deepgap_simdjson.

set(ENV{DEEPGAP_CACHE} ${DEEPGAP_CACHE})
execute_process(COMMAND ${CMAKE_SOURCE_DIR}/scripts/fetch-simdjson.sh --where
                OUTPUT_VARIABLE DEEPGAP_SIMDJSON_FOLDER OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(NOT EXISTS ${DEEPGAP_SIMDJSON_FOLDER}/lib/libsimdjson.a)
  message(FATAL_ERROR
          "simdjson was expected in ${DEEPGAP_SIMDJSON_FOLDER} and is not there: run scripts/fetch-simdjson.sh")
endif()
# Imported, so its header is a system header: its warnings are not ours.
add_library(deepgap_simdjson INTERFACE IMPORTED GLOBAL)
target_include_directories(deepgap_simdjson INTERFACE ${DEEPGAP_SIMDJSON_FOLDER}/include)
target_link_libraries(deepgap_simdjson INTERFACE ${DEEPGAP_SIMDJSON_FOLDER}/lib/libsimdjson.a)
message(STATUS "simdjson: ${DEEPGAP_SIMDJSON_FOLDER}")
