"""A topology of the tests: one server, and a registry beside it that knows where it is, as etcd would."""
