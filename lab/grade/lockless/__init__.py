"""Labs that hand in a table whose lookups take no lock: several tasks use it in a machine of its own, changed at any instruction from outside."""
