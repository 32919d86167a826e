"""The grader: what is handed in is taken in (intake), run (sandbox, oracle), judged (model, streams, parts) and reported (score, classroom).

What is handed in is hostile until it is proven right, and nothing that it says is believed (docs/lab/grading.md)."""
