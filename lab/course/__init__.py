"""A course: its labs (coursework/), its key, what students and teachers get. The grader stands on it (lab/grade)."""
