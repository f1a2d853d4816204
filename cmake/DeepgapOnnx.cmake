# The ONNX project's C++ library, as scripts/fetch-onnx.sh built it, as the target deepgap_onnx.
# Nothing else in the program may bring its own protobuf: see section 4 of the design.

find_package(Threads REQUIRED)
set(ENV{DEEPGAP_CACHE} ${DEEPGAP_CACHE})
execute_process(COMMAND ${CMAKE_SOURCE_DIR}/scripts/fetch-onnx.sh --where
                OUTPUT_VARIABLE DEEPGAP_ONNX_FOLDER OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(NOT EXISTS ${DEEPGAP_ONNX_FOLDER}/lib/libonnx.a)
  message(FATAL_ERROR "ONNX was expected in ${DEEPGAP_ONNX_FOLDER} and is not there: run scripts/fetch-onnx.sh")
endif()
find_path(DEEPGAP_PROTOBUF_INCLUDE google/protobuf/message_lite.h REQUIRED)
if(DEEPGAP_STATIC)
  find_library(DEEPGAP_PROTOBUF_LITE_ARCHIVE libprotobuf-lite.a REQUIRED)
  set(protobuf_lite ${DEEPGAP_PROTOBUF_LITE_ARCHIVE})
else()
  find_library(DEEPGAP_PROTOBUF_LITE protobuf-lite REQUIRED)
  set(protobuf_lite ${DEEPGAP_PROTOBUF_LITE})
endif()

# Imported, so its headers are system headers: their warnings are not ours.
add_library(deepgap_onnx INTERFACE IMPORTED GLOBAL)
target_include_directories(deepgap_onnx INTERFACE ${DEEPGAP_ONNX_FOLDER}/include ${DEEPGAP_PROTOBUF_INCLUDE})
target_compile_definitions(deepgap_onnx INTERFACE ONNX_NAMESPACE=onnx ONNX_ML=1 ONNX_USE_LITE_PROTO=1)
target_link_libraries(deepgap_onnx INTERFACE
  ${DEEPGAP_ONNX_FOLDER}/lib/libonnx.a ${DEEPGAP_ONNX_FOLDER}/lib/libonnx_proto.a ${protobuf_lite} Threads::Threads)
message(STATUS "ONNX: ${DEEPGAP_ONNX_FOLDER}, ${protobuf_lite}")
