//===- onednn.cpp - contractions by oneDNN --------------------------------===//
//
// Activations stay plain, nchw or nhwc; weights take the form that the
// primitive likes best, once where they are constants. Everything is made on a
// step's first run and kept with the step.
//
//===----------------------------------------------------------------------===//

#include "cpu/onednn_describe.h"
#include "mnistrt/cpu/libraries.h"
#include <cstdio>
#include <cstdlib>
#include <unordered_map>

extern "C" int omp_get_max_threads(void);
extern "C" void omp_set_num_threads(int count);

namespace mn::onednn {

namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Dims = memory::dims;

const dnnl::engine &engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

dnnl::stream &stream() {
  static thread_local dnnl::stream one(engine());
  return one;
}

/// One primitive with the memory of its arguments: a step's addresses never
/// change.
struct Call : CpuRuntime::Prepared {
  dnnl::primitive primitive;
  std::unordered_map<int, memory> arguments;

  /// The filter or right operand, in the primitive's own form.
  int weightsArgument = 0;
  memory plainWeights;
  dnnl::reorder reorder;
  bool reordered = false; ///< needs a reorder before the primitive
  bool constant = false;  ///< ... but only the first time

  /// A result that the primitive gives in its own form.
  memory plainResult;
  dnnl::reorder reorderResult;
  bool resultReordered = false;

  void add(int argument, const memory::desc &desc, const float *data) {
    arguments.emplace(argument,
                      memory(desc, engine(), const_cast<float *>(data)));
  }
  void addScratchpad(const memory::desc &desc) {
    arguments.emplace(DNNL_ARG_SCRATCHPAD, memory(desc, engine()));
  }
  /// `wanted` is what the primitive takes where `plain` is what there is.
  void addWeights(const Context &ctx, int argument, const memory::desc &plain,
                  const memory::desc &wanted, const float *data) {
    if (plain == wanted)
      return add(argument, plain, data);
    const auto *bytes = reinterpret_cast<const char *>(data);
    const auto *runtime = static_cast<const CpuRuntime *>(ctx.runtime);
    constant = bytes >= ctx.constants && bytes < runtime->constantsEnd;
    plainWeights = memory(plain, engine(), const_cast<float *>(data));
    memory own(wanted, engine());
    reorder = dnnl::reorder(plainWeights, own);
    arguments.emplace(argument, own);
    weightsArgument = argument;
    reordered = true;
    if (constant)
      reorder.execute(stream(), plainWeights, own);
  }
  void addResult(int argument, const memory::desc &plain,
                 const memory::desc &given, float *data) {
    if (plain == given)
      return add(argument, plain, data);
    plainResult = memory(plain, engine(), data);
    memory own(given, engine());
    reorderResult = dnnl::reorder(own, plainResult);
    arguments.emplace(argument, own);
    weightsArgument = argument;
    resultReordered = true;
  }
  void run() {
    if (reordered && !constant)
      reorder.execute(stream(), plainWeights, arguments.at(weightsArgument));
    primitive.execute(stream(), arguments);
    if (resultReordered)
      reorderResult.execute(stream(), arguments.at(weightsArgument),
                            plainResult);
    stream().wait();
  }
};

/// oneDNN wakes all threads for the smallest of problems. While this lives it
/// sees one, where the work, in multiplications, does not pay for more; it must
/// see the same when a primitive is made and when it runs.
class Threads {
public:
  explicit Threads(double work) : before(omp_get_max_threads()) {
    if (work < 16 * parallelGrain)
      omp_set_num_threads(1);
  }
  ~Threads() { omp_set_num_threads(before); }
  Threads(const Threads &) = delete;
  Threads &operator=(const Threads &) = delete;

private:
  const int before;
};

double sizeOf(const int (&size)[3]) {
  return double(size[0]) * size[1] * size[2];
}
double workOf(const Conv &s) {
  // Output channels share a register: a few cost as much as what fills it.
  const int channels = s.outChannels < 8 ? 8 : s.outChannels;
  return double(s.batch) * channels * sizeOf(s.out) * s.inChannels / s.groups *
         sizeOf(s.kernel);
}
double workOf(const Matmul &s) { return double(s.batch) * s.m * s.n * s.k; }

/// Runs the step's call, which `make` fills in on the first run. What oneDNN
/// refuses here is a fault of the compiler, which chose it: nothing to recover.
template <typename Shape, typename Make>
void run(Context &ctx, const char *what, const Shape &s, Make make) {
  const Threads threads(workOf(s));
  CpuRuntime::Prepared *&slot =
      static_cast<CpuRuntime *>(ctx.runtime)->prepared[ctx.step];
  try {
    if (!slot) {
      auto call = std::make_unique<Call>();
      make(*call);
      slot = call.release();
    }
    static_cast<Call *>(slot)->run();
  } catch (const dnnl::error &error) {
    std::fprintf(stderr, "error: step %d: onednn %s failed: %s\n", ctx.step + 1,
                 what, error.message);
    std::exit(12);
  }
}

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

struct ConvDescs {
  memory::desc in, out;
  Filter filter;
  Dims strides, dilations, pads, padsAfter;

  explicit ConvDescs(const Conv &s)
      : in(imageDesc(s.layout, s.spatial,
                     dimsOf(s.spatial, s.batch, s.inChannels, s.in))),
        out(imageDesc(s.layout, s.spatial,
                      dimsOf(s.spatial, s.batch, s.outChannels, s.out))),
        filter(s), strides(spatialOf(s.spatial, s.strides)),
        dilations(spatialOf(s.spatial, s.dilations, 1)),
        pads(spatialOf(s.spatial, s.pads)) {
    // What oneDNN wants behind the input is what the windows reach, not what
    // the model says: the two differ where a stride leaves a rest.
    for (int d = 0; d < s.spatial; ++d)
      padsAfter.push_back((s.out[d] - 1) * s.strides[d] +
                          (s.kernel[d] - 1) * s.dilations[d] + 1 - s.in[d] -
                          s.pads[d]);
  }

  dnnl::convolution_forward::primitive_desc
  forward(const dnnl::primitive_attr &attributes,
          const memory::desc *bias) const {
    const auto kind = dnnl::prop_kind::forward_inference;
    const auto algorithm = dnnl::algorithm::convolution_direct;
    using Forward = dnnl::convolution_forward;
    return bias ? describe<Forward>(engine(), attributes, kind, algorithm, in,
                                    filter.any, *bias, out, strides, dilations,
                                    pads, padsAfter)
                : describe<Forward>(engine(), attributes, kind, algorithm, in,
                                    filter.any, out, strides, dilations, pads,
                                    padsAfter);
  }

  template <typename Gradient>
  typename Gradient::primitive_desc
  gradient(const dnnl::primitive_attr &attributes) const {
    return describeGradient<Gradient>(
        engine(), attributes, forward(attributes, nullptr),
        dnnl::algorithm::convolution_direct, in, filter.any, out, strides,
        dilations, pads, padsAfter);
  }
};

dnnl::primitive_attr attributesOf(const Epilogue &epilogue, bool inPlace,
                                  const memory::desc &result) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops after;
  if (epilogue.residual && inPlace)
    after.append_sum(1.f);
  else if (epilogue.residual)
    after.append_binary(dnnl::algorithm::binary_add, result);
  if (epilogue.relu)
    appendRelu(after);
  attributes.set_post_ops(after);
  return attributes;
}

void addResidual(Call &call, const Epilogue &epilogue, bool inPlace,
                 const memory::desc &desc) {
  if (epilogue.residual && !inPlace)
    call.add(DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, desc,
             epilogue.residual);
}

} // namespace

void conv(Context &ctx, float *y, const float *x, const float *w, const Conv &s,
          const Epilogue &epilogue) {
  run(ctx, "convolution", s, [&](Call &call) {
    const ConvDescs descs(s);
    const bool inPlace = epilogue.residual == y;
    const memory::desc bias = descOf({s.outChannels}, Tag::x);
    const auto chosen =
        descs.forward(attributesOf(epilogue, inPlace, descs.out),
                      epilogue.bias ? &bias : nullptr);
    call.primitive = dnnl::convolution_forward(chosen);
    call.add(DNNL_ARG_SRC, descs.in, x);
    call.add(DNNL_ARG_DST, descs.out, y);
    if (epilogue.bias)
      call.add(DNNL_ARG_BIAS, bias, epilogue.bias);
    call.addWeights(ctx, DNNL_ARG_WEIGHTS, descs.filter.plain,
                    chosen.weights_desc(), w);
    addResidual(call, epilogue, inPlace, descs.out);
    call.addScratchpad(chosen.scratchpad_desc());
  });
}

void convInputGrad(Context &ctx, float *dx, const float *dy, const float *w,
                   const Conv &s) {
  run(ctx, "gradient of a convolution's input", s, [&](Call &call) {
    const ConvDescs descs(s);
    const auto attributes = attributesOf({}, false, descs.in);
    using Gradient = dnnl::convolution_backward_data;
    const auto chosen = descs.gradient<Gradient>(attributes);
    call.primitive = Gradient(chosen);
    call.add(DNNL_ARG_DIFF_DST, descs.out, dy);
    call.add(DNNL_ARG_DIFF_SRC, descs.in, dx);
    call.addWeights(ctx, DNNL_ARG_WEIGHTS, descs.filter.plain,
                    chosen.weights_desc(), w);
    call.addScratchpad(chosen.scratchpad_desc());
  });
}

void convFilterGrad(Context &ctx, float *dw, const float *x, const float *dy,
                    const Conv &s) {
  run(ctx, "gradient of a convolution's filter", s, [&](Call &call) {
    const ConvDescs descs(s);
    const auto attributes = attributesOf({}, false, descs.in);
    using Gradient = dnnl::convolution_backward_weights;
    const auto chosen = descs.gradient<Gradient>(attributes);
    call.primitive = Gradient(chosen);
    call.add(DNNL_ARG_SRC, descs.in, x);
    call.add(DNNL_ARG_DIFF_DST, descs.out, dy);
    call.addResult(DNNL_ARG_DIFF_WEIGHTS, descs.filter.plain,
                   chosen.diff_weights_desc(), dw);
    call.addScratchpad(chosen.scratchpad_desc());
  });
}

void matmul(Context &ctx, float *y, const float *a, const float *b,
            const Matmul &s, const Epilogue &epilogue) {
  run(ctx, "matrix product", s, [&](Call &call) {
    const bool stacked = s.batch > 1, inPlace = epilogue.residual == y;
    const auto dims = [&](int rows, int columns) {
      return stacked ? Dims{s.batch, rows, columns} : Dims{rows, columns};
    };
    const auto tag = [&](bool transposed) {
      return stacked ? (transposed ? Tag::acb : Tag::abc)
                     : (transposed ? Tag::ba : Tag::ab);
    };
    const memory::desc left = descOf(dims(s.m, s.k), tag(s.transposedA));
    const memory::desc right = descOf(dims(s.k, s.n), tag(s.transposedB));
    const memory::desc result = descOf(dims(s.m, s.n), tag(false));
    const memory::desc bias =
        stacked ? descOf({1, 1, s.n}, Tag::abc) : descOf({1, s.n}, Tag::ab);

    // Only constants are worth another form.
    const auto *bytes = reinterpret_cast<const char *>(b);
    const bool constant =
        bytes >= ctx.constants &&
        bytes < static_cast<const CpuRuntime *>(ctx.runtime)->constantsEnd;
    const memory::desc wanted =
        constant ? descOf(dims(s.k, s.n), Tag::any) : right;
    const auto attributes = attributesOf(epilogue, inPlace, result);
    const auto chosen = epilogue.bias
                            ? describe<dnnl::matmul>(engine(), attributes, left,
                                                     wanted, bias, result)
                            : describe<dnnl::matmul>(engine(), attributes, left,
                                                     wanted, result);
    call.primitive = dnnl::matmul(chosen);
    call.add(DNNL_ARG_SRC, left, a);
    call.add(DNNL_ARG_DST, result, y);
    if (epilogue.bias)
      call.add(DNNL_ARG_BIAS, bias, epilogue.bias);
    call.addWeights(ctx, DNNL_ARG_WEIGHTS, right, chosen.weights_desc(), b);
    addResidual(call, epilogue, inPlace, result);
    call.addScratchpad(chosen.scratchpad_desc());
  });
}

} // namespace mn::onednn
