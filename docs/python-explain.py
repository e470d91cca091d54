import mnistc

explanation = mnistc.explain("digits.onnx", target="cpu", batch=32)
for step in explanation.plans[0].steps:
    print(step.step, step.runs_as, step.result)

profile = mnistc.compile("digits.onnx", target="cpu", batch=32).profile()
slowest = max(profile.steps, key=lambda step: step.us)
print(slowest.name, slowest.implementation)
