//===- eval_output.h - what 'app eval' says of a classifier -----*- C++ -*-===//

#ifndef MNISTRT_COMMANDS_EVAL_OUTPUT_H
#define MNISTRT_COMMANDS_EVAL_OUTPUT_H

#include "data/sample_set.h"
#include "formats/json.h"
#include "inference/class_statistics.h"

namespace mn {

/// Tables for '--details': the rows that are right by class, and what is taken
/// for what. Without names classes have numbers.
std::string detailsText(const ClassStatistics &statistics, int64_t top,
                        const std::vector<std::string> &names, int width);

/// Adds the same to what '--json' prints.
void addDetails(Json &json, const ClassStatistics &statistics, int64_t top);

/// Before anything is computed: that '--wrong' names a folder without pictures,
/// which is made, and that rows are pictures.
Status checkWrongFolder(const std::string &folder, const SampleSet &data);

/// Writes each row as a picture, called "0001-row-17-is-3-taken-for-5.png".
Status writeWrongPictures(const std::string &folder, const SampleSet &data,
                          const std::vector<JudgedRow> &rows);

} // namespace mn

#endif // MNISTRT_COMMANDS_EVAL_OUTPUT_H
