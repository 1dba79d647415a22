"""What an exported run holds, as values: the facts of its trials, and the metadata by RO-Crate. Pure."""
