"""exits.py CODE COMMAND...: the command ends with this exit code."""

import subprocess
import sys

done = subprocess.run(sys.argv[2:], capture_output=True, text=True,
                      errors="replace", stdin=subprocess.DEVNULL)
if done.returncode != int(sys.argv[1]):
    sys.exit(f"expected exit code {sys.argv[1]}, got {done.returncode}\n"
             f"{done.stdout}{done.stderr}")
