"""What breaks hash functions, and what does not break: streams of keys that share a bucket, names that do, and a name hash with a key."""
