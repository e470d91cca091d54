# onnx::all: ONNX's C++ library (messages, checker, shape inference, version
# converter), built by scripts/setup, with Debian's static protobuf.
#
# Imported manually: ONNX's own package file wants protobuf's, which Debian's
# protobuf does not have.

set(MNISTC_CACHE "" CACHE PATH "Where scripts/setup put what Debian lacks")
if(NOT MNISTC_CACHE)
  if(DEFINED ENV{MNISTC_CACHE})
    set(MNISTC_CACHE "$ENV{MNISTC_CACHE}")
  else()
    set(MNISTC_CACHE "$ENV{HOME}/.cache/mnistc")
  endif()
endif()

set(MNISTC_ONNX "${MNISTC_CACHE}/onnx-1.23.2")
if(NOT EXISTS "${MNISTC_ONNX}/lib/libonnx.a")
  message(FATAL_ERROR "no ONNX library in ${MNISTC_ONNX}; run scripts/setup")
endif()

find_path(MN_PROTOBUF_INCLUDE NAMES google/protobuf/message.h REQUIRED)
find_library(MN_PROTOBUF NAMES libprotobuf.a REQUIRED)
find_library(MN_LIBZ NAMES libz.a REQUIRED)
find_package(Threads REQUIRED)
mark_as_advanced(MN_PROTOBUF_INCLUDE MN_PROTOBUF MN_LIBZ)

add_library(onnx::all INTERFACE IMPORTED)
# Includes of imported targets are system includes: no warnings from them.
target_include_directories(onnx::all INTERFACE
  ${MNISTC_ONNX}/include ${MN_PROTOBUF_INCLUDE})
target_compile_definitions(onnx::all INTERFACE ONNX_NAMESPACE=onnx ONNX_ML=1)
target_link_libraries(onnx::all INTERFACE
  ${MNISTC_ONNX}/lib/libonnx.a ${MNISTC_ONNX}/lib/libonnx_proto.a
  ${MN_PROTOBUF} ${MN_LIBZ} Threads::Threads)
