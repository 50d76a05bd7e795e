#!/bin/sh
# Finds what runs a measuring command's Ruby: driver.sh FOLDER [ARGUMENTS...] runs FOLDER/main.rb on kumi (--kumi BIN, KUMI, else
# the release build), or on ruby where no kumi runs it (BENCH_RUBY names another).
here=$1
shift
kumi=${KUMI:-$here/../../target/release/kumi}
next=
for a in "$@"; do
  [ "$next" = kumi ] && kumi=$a
  case $a in
    --kumi) next=kumi ;;
    --kumi=*) kumi=${a#--kumi=} next= ;;
    *) next= ;;
  esac
done
if [ ! -x "$kumi" ] && ! command -v "$kumi" >/dev/null 2>&1; then
  (cd "$here/../.." && cargo build --release -q -p kumi) || exit 1 # from there, for .cargo/config.toml
fi
driver=$BENCH_RUBY
if [ -z "$driver" ]; then
  for r in "$kumi" ruby; do
    if [ "$("$r" -e 'r, w = IO.pipe; w << 1; print IO.select([r], nil, nil, 1) ? 1 : 0' 2>/dev/null)" = 1 ]; then
      driver=$r
      break
    fi
  done
fi
exec "${driver:-$kumi}" "$here/main.rb" --kumi "$kumi" "$@"
