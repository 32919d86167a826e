"""Labs that hand in a path cache: the kernel, built with it, is asked where paths lead, by many users and through many changes; answers are a model's."""
