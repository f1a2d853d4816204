# OpenVINO, as scripts/fetch-openvino.sh put it into the cache folder, as the target deepgap_openvino.
# Sets DEEPGAP_OPENVINO_FOUND; its absence is said aloud and leaves out the worker deepgap-worker-openvino alone.

set(ENV{DEEPGAP_CACHE} ${DEEPGAP_CACHE})
set(DEEPGAP_OPENVINO_FOUND FALSE)
execute_process(COMMAND ${CMAKE_SOURCE_DIR}/scripts/fetch-openvino.sh --where
                OUTPUT_VARIABLE DEEPGAP_OPENVINO_FOLDER OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
# Its own configuration also looks for TBB (which the wheel holds) and must not find another.
find_package(OpenVINO QUIET COMPONENTS Runtime
             PATHS ${DEEPGAP_OPENVINO_FOLDER}/openvino/cmake NO_DEFAULT_PATH)
if(OpenVINO_FOUND)
  set(DEEPGAP_OPENVINO_FOUND TRUE)
  set(DEEPGAP_OPENVINO_LIBRARIES ${DEEPGAP_OPENVINO_FOLDER}/openvino/libs)
  add_library(deepgap_openvino INTERFACE IMPORTED GLOBAL)
  target_link_libraries(deepgap_openvino INTERFACE openvino::runtime)
  # The wheel's libraries find each other by their own run path; the worker finds them by this one. A DT_RPATH, unlike
  # the default DT_RUNPATH, also holds for the plugins that the runtime opens by name.
  target_link_options(deepgap_openvino INTERFACE
    -Wl,--disable-new-dtags -Wl,-rpath,${DEEPGAP_OPENVINO_LIBRARIES} -Wl,-rpath-link,${DEEPGAP_OPENVINO_LIBRARIES})
  message(STATUS "OpenVINO ${OpenVINO_VERSION}: ${DEEPGAP_OPENVINO_FOLDER}")
else()
  message(WARNING "OpenVINO was expected in '${DEEPGAP_OPENVINO_FOLDER}' and is not there: the worker for the engine "
                  "openvino is left out. Run scripts/fetch-openvino.sh, then configure again.")
endif()
