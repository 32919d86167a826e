"""Labs that hand in the size of a table: predictions, held against exact formulas; a choice, against a simulation of memory caches."""
