"""What trials ran in, and how two of them differ in it."""
