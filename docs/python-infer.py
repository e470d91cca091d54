import mnistc
import numpy as np

program = mnistc.compile("digits.onnx", target="cpu", batch=[1, 64])
images = np.zeros((100, 1, 28, 28), np.float32)
scores = program(images)
print(program.name, scores.shape, scores.dtype)
