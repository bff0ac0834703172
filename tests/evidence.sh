#!/bin/bash
# evidence.sh [--check] [FILE] - rewrite the blocks of README.md (or FILE) that show what a command prints:
#
#   <!-- evidence: COMMAND -->
#   ```
#   what COMMAND printed
#   ```
#   <!-- /evidence -->
#
# COMMAND runs in the top folder with the built program first in PATH. --check changes nothing and fails where a block
# would change. A command that fails stops the work and leaves the file as it was.
set -euo pipefail
cd "$(dirname "$0")/.."
mode='write'
[[ ${1:-} == --check ]] && { mode='check'; shift; }
file=${1:-README.md}
export PATH="$PWD/${BUILD:-build}:$PATH" LC_ALL=C.UTF-8
new=$(mktemp "$file.XXXXXX")
trap 'rm -f "$new"' EXIT

inside=
# The file is read on descriptor 3, so that no command can eat it.
while IFS= read -r line <&3 || [[ -n $line ]]; do
  if [[ $line =~ ^'<!-- evidence: '(.*)' -->'$ ]]; then
    [[ -z $inside ]] || { echo "$file: \"$inside\" is not closed" >&2; exit 1; }
    inside=${BASH_REMATCH[1]}
    output=$(bash -o pipefail -c "$inside" </dev/null) || { echo "$file: failed: $inside" >&2; exit 1; }
    # shellcheck disable=SC2016
    printf '%s\n```\n%s\n```\n' "$line" "$output"
  elif [[ $line == '<!-- /evidence -->' ]]; then
    inside=
    printf '%s\n' "$line"
  elif [[ -z $inside ]]; then
    printf '%s\n' "$line"
  fi
done 3<"$file" >"$new"
[[ -z $inside ]] || { echo "$file: \"$inside\" is not closed" >&2; exit 1; }

if cmp -s "$file" "$new"; then
  echo "$file: evidence is up to date"
elif [[ $mode == check ]]; then
  diff -u "$file" "$new" | head -n 60
  echo "$file: evidence differs; run make evidence" >&2
  exit 1
else
  chmod --reference="$file" "$new"
  mv "$new" "$file"
  echo "$file: evidence rewritten"
fi
