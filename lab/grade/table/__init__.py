"""Labs that hand in a table structure: asked one operation at a time in a machine of its own, where all that it executes is counted from outside."""
