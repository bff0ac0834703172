# shellcheck shell=bash
# Completion of stampede(1). Commands and options come from the program's own --help, names from `stampede list`, so
# nothing here has to be kept in step with it.

_stampede_names() { "$1" list "$2" 2>/dev/null | awk '$1 ~ /^[a-z0-9]/ { print $1 }'; }

# $2 may be a command and its kind.
# shellcheck disable=SC2086
_stampede_options() { "$1" $2 --help 2>/dev/null | grep -oE -- '--[a-z][a-z0-9-]*' | sort -u; }

# The words that the help of option $3 lists: "bfs (shortest), dfs, random, pct", "none, por, all; unless ...".
# shellcheck disable=SC2086
_stampede_listed() {
  "$1" $2 --help 2>/dev/null | sed -nE "s/^  (-[a-z], )?$3=[A-Z]+ +//p" |
    sed -E 's/\([^)]*\)//g; s/[;:].*//; s/ or /,/g; s/ //g' | tr , '\n'
}

# Words for the value of option $3 of command $2; returns 1 where it takes a file name or anything else.
_stampede_value() {
  case $3 in
  --variant | --baseline | --patch) _stampede_names "$1" variants ;;
  --suite) _stampede_names "$1" suites ;;
  --job | --time | --strategy | --store | --reduce | --view | --format) _stampede_listed "$@" ;;
  --profile) _stampede_names "$1" profiles ;;
  --seed | --repeat | --jobs | --max-states | --max-depth | --max-time) ;;
  *) return 1 ;;
  esac
}

_stampede() {
  local program=$1 word=$2 before=$3 command=${COMP_WORDS[1]} words
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    words=$("$program" --help 2>/dev/null | sed -nE 's/^  ([a-z]+) .*/\1/p'; echo --help --version)
  elif words=$(_stampede_value "$program" "$command" "$before"); then
    :
  elif [[ $word == -* ]]; then
    [[ $command == calibrate ]] && command="$command ${COMP_WORDS[2]}"
    words=$(_stampede_options "$program" "$command")
  else
    case $command in
    run | sweep | check | compare) words=$(_stampede_names "$program" scenarios) ;;
    calibrate) words=$("$program" calibrate --help 2>/dev/null | sed -nE '/^Kinds:/,/^$/s/^  ([a-z]+) .*/\1/p') ;;
    list) words="scenarios suites presets variants profiles checks metrics" ;;
    *) return 0 ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

# -o default: file names wherever there is no word to offer.
complete -o default -F _stampede stampede
