//===- onednn.cpp - contractions by oneDNN --------------------------------===//
//
// Between steps images are plain, nchw or nhwc; weights take the form that the
// primitive likes best, once where they are constants, and so do the images of
// a part while it runs, where oneDNN has no kernel for plain ones. Everything
// is made on a step's first run and kept with the step: a primitive for each of
// its parts, planned for one thread (onednn_cut.h).
//
//===----------------------------------------------------------------------===//

#include "cpu/onednn_cut.h"
#include "cpu/onednn_parts.h"
#include <algorithm>
#include <string>
#include <utility>

namespace mn::onednn {

namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Dims = memory::dims;

/// Parts of one step: more threads than that find nothing to do.
constexpr int maxParts = 64;

Dims dimsOf(int spatial, int first, int second, const int (&size)[3]) {
  Dims dims{first, second};
  dims.insert(dims.end(), size, size + spatial);
  return dims;
}
Dims spatialOf(int spatial, const int (&size)[3], int subtract = 0) {
  Dims dims;
  for (int d = 0; d < spatial; ++d)
    dims.push_back(size[d] - subtract);
  return dims;
}

memory::desc descOf(const Dims &dims, Tag tag) {
  return memory::desc(dims, memory::data_type::f32, tag);
}
memory::desc imageDesc(Layout layout, int spatial, const Dims &dims) {
  static const Tag tags[2][3] = {{Tag::ncw, Tag::nchw, Tag::ncdhw},
                                 {Tag::nwc, Tag::nhwc, Tag::ndhwc}};
  return descOf(dims, tags[layout == Layout::nhwc][spatial - 1]);
}

/// A filter, O C K... or O K... C; with groups, G O C K... .
struct Filter {
  Dims dims;
  memory::desc plain, any;

  explicit Filter(const Conv &s) {
    static const Tag tags[2][2][3] = {
        {{Tag::oiw, Tag::oihw, Tag::oidhw}, {Tag::owi, Tag::ohwi, Tag::odhwi}},
        {{Tag::goiw, Tag::goihw, Tag::goidhw},
         {Tag::gowi, Tag::gohwi, Tag::godhwi}}};
    dims = dimsOf(s.spatial, s.outChannels / s.groups, s.inChannels / s.groups,
                  s.kernel);
    if (s.groups > 1)
      dims.insert(dims.begin(), s.groups);
    plain = descOf(dims,
                   tags[s.groups > 1][s.layout == Layout::nhwc][s.spatial - 1]);
    any = descOf(dims, Tag::any);
  }
};

/// Images as the plan has them, or in the form that oneDNN likes best.
enum class Form { plain, best };

struct ConvDescs {
  Dims inDims, outDims;
  memory::desc in, out;
  Filter filter;
  Dims strides, dilations, pads, padsAfter;

  explicit ConvDescs(const Conv &s)
      : inDims(dimsOf(s.spatial, s.batch, s.inChannels, s.in)),
        outDims(dimsOf(s.spatial, s.batch, s.outChannels, s.out)),
        in(imageDesc(s.layout, s.spatial, inDims)),
        out(imageDesc(s.layout, s.spatial, outDims)), filter(s),
        strides(spatialOf(s.spatial, s.strides)),
        dilations(spatialOf(s.spatial, s.dilations, 1)),
        pads(spatialOf(s.spatial, s.pads)) {
    // The padding that oneDNN wants after the input is what the windows reach,
    // not what the model says: the two differ where a stride leaves a rest.
    for (int d = 0; d < s.spatial; ++d)
      padsAfter.push_back((s.out[d] - 1) * s.strides[d] +
                          (s.kernel[d] - 1) * s.dilations[d] + 1 - s.in[d] -
                          s.pads[d]);
  }

  memory::desc inAs(Form form) const {
    return form == Form::plain ? in : descOf(inDims, Tag::any);
  }
  memory::desc outAs(Form form) const {
    return form == Form::plain ? out : descOf(outDims, Tag::any);
  }

  dnnl::convolution_forward::primitive_desc
  forward(Form form, const dnnl::primitive_attr &attributes,
          const memory::desc *bias) const {
    const auto kind = dnnl::prop_kind::forward_inference;
    const auto algorithm = dnnl::algorithm::convolution_direct;
    using Forward = dnnl::convolution_forward;
    return bias ? describe<Forward>(engine(), attributes, kind, algorithm,
                                    inAs(form), filter.any, *bias, outAs(form),
                                    strides, dilations, pads, padsAfter)
                : describe<Forward>(engine(), attributes, kind, algorithm,
                                    inAs(form), filter.any, outAs(form),
                                    strides, dilations, pads, padsAfter);
  }

  template <typename Gradient>
  typename Gradient::primitive_desc gradient(Form form) const {
    return describeGradient<Gradient>(
        engine(), userScratchpad(), forward(form, userScratchpad(), nullptr),
        dnnl::algorithm::convolution_direct, inAs(form), filter.any,
        outAs(form), strides, dilations, pads, padsAfter);
  }
};

/// Whether oneDNN has no kernel for it, but copies windows and multiplies
/// matrices (which say "x64:gemm:jit"; "brgemm" is a kernel), or only loops.
template <typename Chosen> bool isByProducts(const Chosen &chosen) {
  const std::string name = std::string(":") + chosen.impl_info_str();
  return name.find(":gemm") != name.npos || name.find(":ref") != name.npos;
}

/// The primitive for images in the plan's form, or for those in the form that
/// oneDNN likes best, where it has a kernel only for these: in nchw, a
/// convolution then takes half the time, and one of each channel by itself a
/// tenth, with all that is copied.
template <typename Make> auto chooseForm(const Make &make) {
  auto plain = make(Form::plain);
  if (!isByProducts(plain))
    return std::pair(plain, Form::plain);
  auto best = make(Form::best);
  return isByProducts(best) ? std::pair(plain, Form::plain)
                            : std::pair(best, Form::best);
}

/// A residual of the result's form is added by oneDNN, if it is elsewhere only
/// by its kernels: by products of matrices, as without AVX-512, oneDNN 2.6 adds
/// it wrongly where there are groups and channels are last. A maximum
/// that it takes forgets a NaN, so that ReLU is ours (Finish).
dnnl::primitive_attr attributesOf(const float *residual, bool inPlace,
                                  const memory::desc &result) {
  dnnl::primitive_attr attributes = userScratchpad();
  dnnl::post_ops after;
  if (residual && inPlace)
    after.append_sum(1.f);
  else if (residual)
    after.append_binary(dnnl::algorithm::binary_add, result);
  attributes.set_post_ops(after);
  return attributes;
}

void addResidual(Part &part, const float *residual, bool inPlace,
                 const memory::desc &desc) {
  if (residual && !inPlace)
    part.add(DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, desc,
             residual);
}

struct ConvStep {
  Call &call;
  float *y;
  const float *x, *w;
  const Epilogue &e;

  void add(const ConvPart &some) {
    const ConvDescs descs(some.shape);
    const memory::desc bias = descOf({some.shape.outChannels}, Tag::x);
    const float *residual = e.residual ? e.residual + some.out : nullptr;
    const bool inPlace = e.residual == y;
    const auto make = [&](Form form, const float *inside) {
      return descs.forward(form, attributesOf(inside, inPlace, descs.out),
                           e.bias ? &bias : nullptr);
    };
    auto [chosen, form] = chooseForm([&](Form form) {
      return make(form, form == Form::plain ? residual : nullptr);
    });
    const bool addsInside =
        form == Form::plain && (inPlace || !isByProducts(chosen));
    if (residual && form == Form::plain && !addsInside)
      chosen = make(form, nullptr);
    Part &part = call.addPart(dnnl::convolution_forward(chosen),
                              chosen.scratchpad_desc());
    part.addInput(DNNL_ARG_SRC, descs.in, chosen.src_desc(), x + some.in);
    if (e.bias)
      part.add(DNNL_ARG_BIAS, bias, e.bias);
    part.arguments.emplace(
        DNNL_ARG_WEIGHTS,
        call.weights(descs.filter.plain, chosen.weights_desc(), w));
    addResult(part, addsInside, residual, descs.out, chosen.dst_desc(),
              y + some.out);
  }

  /// Where the primitive does not add the residual, that comes after it.
  void addResult(Part &part, bool addsInside, const float *residual,
                 const memory::desc &plain, const memory::desc &chosen,
                 float *to) {
    const bool inPlace = e.residual == y;
    part.addResult(DNNL_ARG_DST, chosen, memory(plain, engine(), to),
                   residual && inPlace && !addsInside);
    if (addsInside)
      addResidual(part, residual, inPlace, plain);
    const float *later = addsInside || inPlace ? nullptr : residual;
    if (e.relu || later)
      part.finish = {.to = to,
                     .residual = later,
                     .columns = int64_t(plain.get_size() / sizeof(float)),
                     .relu = e.relu};
  }
};

} // namespace

Parts prepareConv(Context &ctx, float *y, const float *x, const float *w,
                  const Conv &s, const Epilogue &e) {
  return prepare(ctx, "convolution", [&](Call &call) {
    call.work = workOf(s);
    ConvStep step{call, y, x, w, e};
    for (const ConvPart &some : cut(s, Lines::ofOutput, maxParts))
      step.add(some);
  });
}

Parts prepareConvInputGrad(Context &ctx, float *dx, const float *dy,
                           const float *w, const Conv &s) {
  return prepare(ctx, "gradient of a convolution's input", [&](Call &call) {
    call.work = workOf(s);
    for (const ConvPart &some : cut(s, Lines::ofInput, maxParts)) {
      const ConvDescs descs(some.shape);
      using Gradient = dnnl::convolution_backward_data;
      const auto chosen = chooseForm([&](Form form) {
                            return descs.gradient<Gradient>(form);
                          }).first;
      Part &part = call.addPart(Gradient(chosen), chosen.scratchpad_desc());
      part.addInput(DNNL_ARG_DIFF_DST, descs.out, chosen.diff_dst_desc(),
                    dy + some.out);
      part.addResult(DNNL_ARG_DIFF_SRC, chosen.diff_src_desc(),
                     memory(descs.in, engine(), dx + some.in));
      part.arguments.emplace(
          DNNL_ARG_WEIGHTS,
          call.weights(descs.filter.plain, chosen.weights_desc(), w));
    }
  });
}

/// Each part gives a summand of the gradient; one part gives it whole.
Parts prepareConvFilterGrad(Context &ctx, float *dw, const float *x,
                            const float *dy, const Conv &s) {
  return prepare(ctx, "gradient of a convolution's filter", [&](Call &call) {
    call.work = workOf(s);
    const std::vector<ConvPart> parts =
        cut(s, Lines::ofOutput, std::min(maxParts, maxFilterParts(s)));
    const memory::desc plain = Filter(s).plain;
    if (parts.size() > 1)
      call.summandSize = int64_t(plain.get_size() / sizeof(float));
    for (const ConvPart &some : parts) {
      const ConvDescs descs(some.shape);
      using Gradient = dnnl::convolution_backward_weights;
      const auto chosen = chooseForm([&](Form form) {
                            return descs.gradient<Gradient>(form);
                          }).first;
      Part &part = call.addPart(Gradient(chosen), chosen.scratchpad_desc());
      part.addInput(DNNL_ARG_SRC, descs.in, chosen.src_desc(), x + some.in);
      part.addInput(DNNL_ARG_DIFF_DST, descs.out, chosen.diff_dst_desc(),
                    dy + some.out);
      part.summand = memory(plain, engine(), parts.size() > 1 ? nullptr : dw);
      part.addResult(DNNL_ARG_DIFF_WEIGHTS, chosen.diff_weights_desc(),
                     part.summand);
    }
  });
}

namespace {

/// Rows and columns of one matrix, or of several that follow each other.
memory::desc matrixDesc(int count, int rows, int columns, bool transposed,
                        int wholeRows, int wholeColumns) {
  const Dims inner = transposed ? Dims{1, wholeRows} : Dims{wholeColumns, 1};
  if (count == 1)
    return memory::desc({rows, columns}, memory::data_type::f32, inner);
  return memory::desc({count, rows, columns}, memory::data_type::f32,
                      {int64_t(wholeRows) * wholeColumns, inner[0], inner[1]});
}

struct MatmulStep {
  Call &call;
  float *y;
  const float *a, *b;
  const Matmul &s;
  const Epilogue &e;

  void add(const MatmulPart &p) {
    const int64_t fromA = int64_t(p.first) * s.m * s.k +
                          int64_t(p.row) * (s.transposedA ? 1 : s.k);
    const int64_t fromB = int64_t(p.first) * s.k * s.n +
                          int64_t(p.column) * (s.transposedB ? s.k : 1);
    const int64_t to = (int64_t(p.first) * s.m + p.row) * s.n + p.column;
    const memory::desc left =
        matrixDesc(p.count, p.rows, s.k, s.transposedA, s.m, s.k);
    const memory::desc right =
        matrixDesc(p.count, s.k, p.columns, s.transposedB, s.k, s.n);
    const memory::desc result =
        matrixDesc(p.count, p.rows, p.columns, false, p.rows, p.columns);
    const memory::desc bias = p.count > 1 ? descOf({1, 1, p.columns}, Tag::abc)
                                          : descOf({1, p.columns}, Tag::ab);
    // Columns of several rows are written one after another, and then to their
    // places.
    const bool buffered = p.columns < s.n && p.rows > 1;
    const float *residual = e.residual ? e.residual + to : nullptr;
    const float *inside = buffered ? nullptr : residual;
    const bool inPlace = e.residual == y;
    // Only constants are worth another form.
    const memory::desc wanted =
        !call.isConstant(b) ? right
        : p.count > 1       ? descOf({p.count, s.k, p.columns}, Tag::any)
                            : descOf({s.k, p.columns}, Tag::any);
    const auto attributes = attributesOf(inside, inPlace, result);
    const auto chosen = e.bias
                            ? describe<dnnl::matmul>(engine(), attributes, left,
                                                     wanted, bias, result)
                            : describe<dnnl::matmul>(engine(), attributes, left,
                                                     wanted, result);
    Part &part = call.addPart(dnnl::matmul(chosen), chosen.scratchpad_desc());
    part.add(DNNL_ARG_SRC, left, a + fromA);
    if (e.bias)
      part.add(DNNL_ARG_BIAS, bias, e.bias + p.column);
    part.arguments.emplace(
        DNNL_ARG_WEIGHTS,
        call.weights(right, chosen.weights_desc(), b + fromB));
    addResidual(part, inside, inPlace, result);
    if (buffered)
      part.addBuffered(DNNL_ARG_DST, result);
    else
      part.add(DNNL_ARG_DST, result, y + to);
    const int64_t rows = int64_t(p.count) * p.rows;
    part.finishesBuffer = buffered;
    if (buffered)
      part.finish = {y + to, residual, rows, p.columns, s.n, e.relu};
    else if (e.relu)
      part.finish = {y + to, nullptr, 1, rows * p.columns, 0, true};
  }
};

} // namespace

Parts prepareMatmul(Context &ctx, float *y, const float *a, const float *b,
                    const Matmul &s, const Epilogue &e) {
  return prepare(ctx, "matrix product", [&](Call &call) {
    call.work = workOf(s);
    MatmulStep step{call, y, a, b, s, e};
    for (const MatmulPart &part : cut(s))
      step.add(part);
  });
}

} // namespace mn::onednn
