"""Labs that hand in a hash function: it is asked for buckets in the sandbox, and judged by a model of the table outside."""
