#!/usr/bin/env python3
"""Writes docs/onnx-tests.md from the reports of run.py, one for each target.

usage: report.py REPORT.json... > docs/onnx-tests.md
"""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
MARKS = {"passed": "yes", "expected failure": "no", "failed": "no",
         "unexpected pass": "yes"}


def main():
    reports = [json.loads(pathlib.Path(path).read_text()) for path in sys.argv[1:]]
    reports.sort(key=lambda report: report["target"])
    states = {report["target"]: {r["name"]: r for r in report["results"]}
              for report in reports}
    print("# ONNX's backend tests\n")
    print("Written by `test/onnx-backend/report.py` from the reports of "
          "`test/onnx-backend/run.py`; do not edit.\n")
    for tier, title in (("tier1", "Inference"), ("operators", "Other operators"),
                        ("tier2", "Training")):
        names = sorted((HERE / f"{tier}.txt").read_text().split())
        shown = [t for t in states if any(name in states[t] for name in names)]
        if not shown:
            continue
        print(f"## {title}\n")
        for target in shown:
            count = sum(states[target].get(name, {}).get("state") == "passed"
                        for name in names)
            print(f"- `{target}`: {count} of {len(names)} pass")
        print(f"\n| test | {' | '.join(shown)} | why not |")
        print(f"|---|{'---|' * len(shown)}---|")
        for name in names:
            found = [states[target].get(name) for target in shown]
            marks = [MARKS[r["state"]] if r else "not run" for r in found]
            reasons = {(r.get("reason") or r["message"].splitlines()[-1][:160])
                       for r in found if r and MARKS[r["state"]] == "no"
                       and (r.get("reason") or r["message"])}
            print(f"| `{name}` | {' | '.join(marks)} | {'; '.join(sorted(reasons))} |")
        print()


if __name__ == "__main__":
    main()
