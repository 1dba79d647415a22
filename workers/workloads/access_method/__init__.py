"""Access-method profile: what each operation on a table costs, by the table's access method."""
