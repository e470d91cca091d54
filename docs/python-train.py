import mnistc
import numpy as np

random = np.random.default_rng(1)
y = random.integers(0, 10, 640)
x = random.random((640, 1, 28, 28)) / 4
for row, label in zip(x.reshape(640, 784), y):
    row[label * 78 : label * 78 + 78] += 0.5

program = mnistc.compile("digits.onnx", target="cpu", batch=32, train={"optimizer": "adam"})
for epoch in program.train(x, y, epochs=3, test=(x[:100], y[:100])):
    print(f"epoch {epoch.epoch}: {epoch.test.accuracy:.0%}")
program.save("trained.onnx")

program.numbers["lr"] = 0.0001
loss = program.step(x[:32], y[:32])
program.checkpoint("state")

try:
    program.train(x, y + 5)
except mnistc.DataError as error:
    print(error.code, error)
