"""What a program prints for shells to complete its commands and options."""

import re
import shutil
import subprocess

from harness import expect, fails, ok


def program(place):
    return place.program("pytorch-simplecnn", "--train", "--target=cpu", "--batch=8")


def options_of(app):
    """By command, those that its help lists, with = where they take a value."""
    commands = re.findall(r"^  ([a-z]+) ", ok(app, "--help").out.split("Commands:")[1], re.M)
    expect({"infer", "train", "completion"} <= set(commands), commands)
    return {command: {f"--{name}" for name in re.findall(
        r"^  (?:-h,)?--([a-z0-9-]+=?)", ok(app, command, "--help").out, re.M)}
        for command in commands}


def by_bash(app, *words):
    """What bash offers where the last of `words` ends; None: files."""
    script = ('source <("$1" completion bash); shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1));'
              "compopt() { [ $2 != default ] || echo FILES; };"
              f"_{re.sub('[^a-zA-Z0-9]', '_', app.name)};"
              '[ ${#COMPREPLY[@]} = 0 ] || printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-euc", script, "-", app, *words], capture_output=True,
                          text=True, check=False)
    expect(done.returncode == 0 and not done.stderr, done)
    return None if done.stdout == "FILES\n" else set(done.stdout.split())


def test_bash(place):
    app = program(place)
    options = options_of(app)
    first = {*options, "help", "--help", "--version"}
    expect(by_bash(app, app, "") == first, by_bash(app, app, ""))
    expect(by_bash(app, app, "pro") == {"profile"}, "pro")
    expect(by_bash(app, app, "help", "") == set(options), "help")
    expect(by_bash(app, app, "completion", "") == {"bash", "zsh", "fish", "--help"}, "shells")
    for command, flags in options.items():
        expect(by_bash(app, app, command, "--") == flags, f"{command}: expected {flags}, "
               f"got {by_bash(app, app, command, '--')}")
    for words in (("infer", ""), ("infer", "x.n"), ("eval", "--data", "="),
                  ("eval", "--data", "=", "dig"), ("infer", "--json", "x")):
        expect(by_bash(app, app, *words) is None, f"{words}: expected files")
    expect(by_bash(app, app, "no-such", "--") == set(), "expected nothing")


def test_names_of_programs(place):
    """A script is for the name that the program was called by, which may say anything."""
    app = program(place)
    for name in ("1 $(touch hit) 'it''s' \"x\"", "x\ny;touch hit", "-o"):
        other = place.path(name)
        shutil.copy(app, other)
        script = ok(other, "completion", "bash").out
        done = subprocess.run(["bash", "-euc", f"{script}\ncomplete -p -- \"$1\"", "-", name],
                              capture_output=True, text=True, cwd=place.folder, check=False)
        expect(done.returncode == 0 and not done.stderr, done)
        expect(not place.path("hit").exists(), "expected a name not to be a command")


def test_zsh_and_fish(place):
    app = program(place)
    options, name = options_of(app), app.name
    zsh = ok(app, "completion", "zsh").out
    fish = ok(app, "completion", "fish").out
    for command, flags in options.items():
        part = re.search(rf"^  {command}\)\n(.*?)^    ;;$", zsh, re.M | re.S)[1]
        found = set(re.findall(r"^      '(--[a-z0-9-]+=?)\[", part, re.M))
        expect(found == flags, f"zsh, {command}: {found ^ flags}")
        found = {f"--{flag}{'=' if value else ''}" for flag, value in re.findall(
            rf"^complete -c '{name}' -n '__fish_seen_subcommand_from {command}' "
            r"-l ([a-z0-9-]+)( -[rx])?", fish, re.M)}
        expect(found == flags, f"fish, {command}: {found ^ flags}")
        expect(f"\n    '{command}:" in zsh and f" -a {command} -d " in fish, command)
    for shell, text in (("zsh", zsh), ("fish", fish)):
        if shutil.which(shell):
            done = subprocess.run([shell, "-n"], input=text, capture_output=True, text=True,
                                  check=False)
            expect(done.returncode == 0 and not done.stderr, done)


def test_wrong_usage(place):
    app = program(place)
    fails(2, app, "completion", parts=("expected SHELL",))
    fails(2, app, "completion", "ksh", parts=("expected bash, zsh or fish, got 'ksh'",))
    fails(2, app, "completion", "bash", "zsh", parts=("expected one 'SHELL', got several",))
