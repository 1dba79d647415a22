# The plan's command, with PostgreSQL's client programs before all others. $1 their directory, $2 the command's script.
PATH=$1:$PATH
export PATH
exec sh "$2"
