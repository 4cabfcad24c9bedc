#!/usr/bin/env bash
# Runs once, when the image is built: a Python of 3.11 or later, and the grader with the versions it was tested with.
set -euo pipefail
source_folder="${ATTNLAB_AUTOGRADER:-/autograder}/source"
target="${ATTNLAB_VENV:-/opt/attnlab}"
export DEBIAN_FRONTEND=noninteractive

usable() { "$1" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

python=""
find_python() {
  for name in python3.14 python3.13 python3.12 python3.11 python3; do
    if usable "$name"; then
      python="$name"
      return
    fi
  done
}

find_python
if [ -z "$python" ]; then
  apt-get update
  apt-get install -y --no-install-recommends ca-certificates python3 python3-venv
  find_python
fi
if [ -z "$python" ]; then # Ubuntu 22.04, whose own Python is 3.10
  apt-get install -y --no-install-recommends python3.11 python3.11-venv
  find_python
fi
if [ -z "$python" ]; then
  echo "No Python 3.11 or later could be installed. Choose a newer base image for the autograder." >&2
  exit 1
fi

"$python" -m venv --clear "$target"
install() { "$target/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir "$@"; }
# PyTorch for the CPU is a tenth of the one that PyPI has, which brings CUDA along.
torch="$(grep -i '^torch==' "$source_folder/constraints.txt")"
install --no-deps --index-url https://download.pytorch.org/whl/cpu "$torch" || install --no-deps "$torch"
install -c "$source_folder/constraints.txt" "$source_folder"/wheels/*.whl
