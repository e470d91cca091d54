//===- onednn_describe.h - primitives of oneDNN 2 and 3 ---------*- C++ -*-===//
//
// What differs between the two: the order in which a primitive is described,
// and whether by way of a descriptor of its operation.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_ONEDNN_DESCRIBE_H
#define MNISTRT_CPU_ONEDNN_DESCRIBE_H

#include <dnnl.hpp>
#include <oneapi/dnnl/dnnl_version.h>

namespace mn::onednn {

/// A primitive that is told `what`, in the order that both versions have.
template <typename Primitive, typename... What>
typename Primitive::primitive_desc
describe(const dnnl::engine &engine, const dnnl::primitive_attr &attributes,
         const What &...what) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, what..., attributes};
#else
  return {typename Primitive::desc(what...), attributes, engine};
#endif
}

/// The same for a gradient of what `forward` describes.
template <typename Primitive, typename Forward, typename... What>
typename Primitive::primitive_desc
describeGradient(const dnnl::engine &engine,
                 const dnnl::primitive_attr &attributes, const Forward &forward,
                 const What &...what) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, what..., forward, attributes};
#else
  return {typename Primitive::desc(what...), attributes, engine, forward};
#endif
}

} // namespace mn::onednn

#endif // MNISTRT_CPU_ONEDNN_DESCRIBE_H
