# Keeps keys and their values, over TCP on the loopback: "put KEY VALUE" and "get KEY", an answer a line. Prints its port.
use strict;
use warnings;
use IO::Socket::INET;

$| = 1;
my $listening = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 5) or die "It cannot listen: $@\n";
print $listening->sockport, "\n";
my %values;
while (my $peer = $listening->accept) {
    my $line = <$peer> // '';
    chomp $line;
    print STDERR "$line\n";
    my ($what, $key, $value) = split / /, $line, 3;
    $values{$key} = $value if $what eq 'put';
    print $peer $values{$key} // '', "\n";
    close $peer;
}
