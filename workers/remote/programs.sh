# Prints "NAME PATH VERSION" of each of the programs $@ that the account can run.
PATH=$PATH:/usr/sbin:/usr/local/sbin
for tool; do
    path=$(command -v "$tool") || continue
    case $tool in
    sar | sadf) version=$("$tool" -V 2>&1) ;;
    awk) version="$(readlink -f "$path") $("$tool" -W version 2>&1)" ;;
    *) version=$("$tool" --version 2>&1) ;;
    esac </dev/null
    echo "$tool $path $(echo "$version" | head -n 1)"
done
