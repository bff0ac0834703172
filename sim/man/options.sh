#!/bin/bash
# options.sh PROGRAM TEMPLATE - print the manual page TEMPLATE with @VERSION@ filled in and @COMMANDS@ replaced by a
# section for each subcommand, made from what the program's own --help says, so that the two cannot drift apart.
set -euo pipefail
program=$1 template=$2
export LC_ALL=C.UTF-8

# Subcommands stand in `stampede --help` as indented words followed by two spaces and a description.
subcommands() { "$program" --help | sed -nE 's/^  ([a-z]+) .*/\1/p'; }

# From a subcommand's --help: its usage line as a heading, then its options as tagged paragraphs. An option's text may
# go on in lines indented further than its name.
section() {
  # shellcheck disable=SC2086
  "$program" $1 --help | awk '
    function roff(text) { gsub(/\\/, "\\e", text); gsub(/-/, "\\-", text); return text }
    function paragraph(text) { if (text ~ /^[.\047]/) text = "\\&" text; print text }
    /^Usage:/ { usage = 1; sub(/^Usage:/, "") }
    usage && /stampede/ {
      sub(/.*stampede /, "stampede "); sub(/\[OPTION[^]]*\]/, "[OPTION...]")
      printf ".SS %s\n", roff($0); usage = 0; heading = 1; next }
    /^  +(-[A-Za-z], )?--[a-z]/ {
      match($0, /^ +(-[A-Za-z0-9], )?--[a-z][a-z0-9-]*([ =][^ ]+)?/)
      name = substr($0, 1, RLENGTH); text = substr($0, RLENGTH + 1)
      sub(/^ +/, "", name); sub(/^ +/, "", text)
      print ".TP"; printf ".B %s\n", roff(name); paragraph(roff(text)); inside = 1; next }
    inside && /^      +[^ ]/ { sub(/^ +/, ""); paragraph(roff($0)); next }
    # A description may name words of the command line, each in an indented line of its own.
    heading && !inside && /^  +[a-z]+  +/ {
      match($0, /^ +[a-z]+/); name = substr($0, 1, RLENGTH); text = substr($0, RLENGTH + 1)
      sub(/^ +/, "", name); sub(/^ +/, "", text)
      print ".TP"; printf ".B %s\n", roff(name); paragraph(roff(text)); listed = 1; next }
    listed && NF && !/:$/ { print ".PP"; listed = 0 }
    heading && !inside && NF && !/:$/ { sub(/^ +/, ""); paragraph(roff($0)) }
    !NF { inside = 0 }
  '
}

version=$("$program" --version | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1)
while IFS= read -r line; do
  if [[ $line == @COMMANDS@ ]]; then
    for subcommand in $(subcommands); do
      if "$program" "$subcommand" --help | grep -q '^Kinds:'; then
        for kind in $("$program" "$subcommand" --help | sed -nE 's/^  ([a-z]+) +[a-z].*/\1/p' | grep -vx stampede); do
          section "$subcommand $kind"
        done
      else
        section "$subcommand"
      fi
    done
  else
    printf '%s\n' "${line//@VERSION@/$version}"
  fi
done <"$template"
