# Prints "NAME PATH VERSION" of each program that the account can run. $@: of each its name or path, and the shell command
# that prints its version.
PATH=$PATH:/usr/sbin:/usr/local/sbin
while [ $# -gt 1 ]; do
    tool=$1
    if path=$(command -v "$tool"); then
        version=$(eval "$2" 2>&1 </dev/null)
        echo "$tool $path $(echo "$version" | head -n 1)"
    fi
    shift 2
done
