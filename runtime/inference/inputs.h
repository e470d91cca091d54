//===- inputs.h - from the user's tensors to a plan's -----------*- C++ -*-===//
//
// A model reads rows: the first dimension of its inputs is the batch. A file
// has any number of rows; here they are fitted to a plan.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_INFERENCE_INPUTS_H
#define MNISTRT_INFERENCE_INPUTS_H

#include "core/array.h"
#include "core/executor.h"
#include "formats/files.h"
#include <optional>

namespace mn {

/// What happens to the numbers of a file: y = (scale x - mean) / std. Pixels
/// are scaled by 1/255 unless told otherwise; other numbers stay as they are
/// unless told otherwise. Only inputs of floats are transformed.
struct Transform {
  std::optional<double> scale, mean, deviation;
  bool invert = false; ///< pixels: dark on light, so that p becomes 255 - p
};

/// One input or output of a plan, read as rows.
struct Rows {
  const Tensor *tensor;
  bool batched;             ///< whether the first dimension counts rows
  std::vector<int64_t> row; ///< the shape of one
  size_t rowCount;          ///< the elements of one

  Rows(const Plan &plan, const Tensor &tensor);
  size_t rowBytes() const { return rowCount * bytesOf(tensor->type); }
};

/// How pictures are read for an input: in colors where its rows have three
/// channels, before or after height and width.
Colors colorsOf(const Tensor &input);

/// How many rows an array has for an input. Dimensions of 1 may be left out or
/// put in, and a row may be flat: none of this moves an element.
Status countRows(const Array &array, const Rows &rows, int64_t &count);

/// Writes rows [first, first + count) of `array` to `to`, and repeats the last
/// until there are `capacity`.
Status fillRows(const Array &array, const Rows &rows,
                const Transform &transform, int64_t first, int64_t count,
                int64_t capacity, void *to);

/// What a plan sees of bytes for an input of floats; nothing for other types.
std::optional<Pixels> pixelsOf(const Array &array, const Rows &rows,
                               const Transform &transform);
/// fillRows for these bytes, as they are: Executor::givePixels says what they
/// become.
Status fillPixels(const Array &array, const Rows &rows, int64_t first,
                  int64_t count, int64_t capacity, void *to);

/// `array` as rows of an input, whole, as bytes.
Status fitPixels(Array array, const Rows &rows, Array &fitted);

/// `array` as rows of an input, whole.
Status fitArray(const Array &array, const Rows &rows,
                const Transform &transform, Array &fitted);

/// An error where one of `count` integers is none that the model takes
/// (Plan::ranges).
Status checkRange(const Tensor &input, const InputRange &range,
                  const void *data, size_t count);

/// Whether a plan may read an input only after `admitInput`.
bool mustBeAdmitted(const Plan &plan, int number);
/// Makes `count` elements of an input as the plan may read them: bytes of
/// booleans other than 0 become 1; integers out of range are an error.
Status admitInput(const Plan &plan, int number, void *data, size_t count);

/// What every run begins with: the inputs of a slot, admitted.
Status admitInputs(Executor &executor, const Plan &tables, int plan, int slot);

} // namespace mn

#endif // MNISTRT_INFERENCE_INPUTS_H
