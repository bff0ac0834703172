#!/bin/bash
# arrows.sh - the include arrows: model <- traces <- sim <- checks <- viz <- stampede.c, nothing the other way; and no
# machine's own paths or package hosts in any file. Prints each offending line; status 1 if there is one.
set -euo pipefail
cd "$(dirname "$0")/.."
layers='model traces sim checks viz stampede.c'
bad=0

# rank PATH: the place of its layer in the list, or nothing.
rank() {
  local place=0 layer
  for layer in $layers; do
    [[ ${1%%/*} == "$layer" ]] && { echo "$place"; return; }
    place=$((place + 1))
  done
}

# These folders of sim/subject are data: compiled by users, with headers of theirs.
while IFS=: read -r file line included; do
  includer=$(rank "$file") target=$(rank "$included")
  if [[ -z $target ]]; then
    echo "$file:$line: \"$included\" is not named from the top of the tree, or is no layer"
    bad=1
  elif ((target > includer)); then
    echo "$file:$line: ${file%%/*} may not include $included"
    bad=1
  elif [[ ${file%%/*} == model && $file == model/world/* && $included != model/world/* ]]; then
    echo "$file:$line: model/world stands below every model and may not include $included"
    bad=1
  fi
done < <(find model traces sim checks viz stampede.c \( -name '*.c' -o -name '*.h' -o -name '*.S' \) 2>/dev/null \
         | LC_ALL=C sort | xargs grep -nHE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' \
         | sed -E 's/^([^:]*):([^:]*):[^"]*"([^"]*)".*/\1:\2:\3/' | grep -vE '^sim/subject/(postgres|bundled|template)/')

# Bracketed letters keep the pattern from finding itself.
if grep -rnIE '(^|[^[:alnum:]_.])/(wor[k]|roo[t]|hom[e])/|\.\./share[d]/|de[b]\.debian\.org|pyp[i]\.org' \
     model traces sim checks viz tests .ci Makefile README.md stampede.c .clang-tidy .clang-format 2>/dev/null; then
  echo "a file names a path or a host of one machine (above)"
  bad=1
fi
exit $bad
