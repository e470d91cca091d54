//===- tables.cpp - cases as a compiled model's tables --------------------===//

#include "tables.h"
#include <cstring>

namespace test {

Tables::Tables(const std::vector<Case> &cases)
    : tensors(cases.size()), steps(cases.size()), plans(cases.size()) {
  shapes.reserve(cases.size() * 8);
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case &c = cases[i];
    size_t at = 0;
    for (const Operand &operand : c.operands) {
      shapes.push_back({operand.count});
      tensors[i].push_back(
          {"operand", operand.type, 1, shapes.back().data(), at});
      at += aligned(operand.bytes());
    }
    steps[i] = {c.name.c_str(), "", "", c.implementation, "", 0, 0.0, c.run};
    plans[i] = {c.name.c_str(),
                1,
                at,
                std::strcmp(c.implementation, "kernel") == 0 ? 0u : 32u << 20,
                tensors[i].data(),
                int(tensors[i].size()),
                tensors[i].data(),
                1,
                &steps[i],
                1};
  }
}

mn::Model Tables::model(const mn::DeviceCode &code) const {
  mn::Model model = {};
  model.version = mn::modelVersion;
  model.name = "gpu-tests";
  model.arch = code.arch;
  model.codes = &code;
  model.codeCount = 1;
  model.plans = plans.data();
  model.planCount = int(plans.size());
  return model;
}

} // namespace test
