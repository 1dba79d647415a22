# $1 the server's log   $2 its size before   $3 bytes to keep of the beginning   $4 of the end
size=$(stat -c %s -- "$1") || exit 1
new=$((size - $2))
[ "$new" -ge 0 ] || new=$size
if [ "$new" -le $(($3 + $4)) ]; then
    tail -c "$new" -- "$1"
else
    tail -c "$new" -- "$1" | head -c "$3"
    printf '\n… %s bytes left out …\n' $((new - $3 - $4))
    tail -c "$4" -- "$1"
fi
