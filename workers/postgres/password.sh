# $1 the cluster's directory. Prints the password that its superuser has; nothing where a new one waits to be given.
cd -- "$1" || exit
[ -s password ] && exec cat password
umask 077
od -A n -t x1 -N 24 /dev/urandom | tr -d ' \n' >password.new && [ -s password.new ]
