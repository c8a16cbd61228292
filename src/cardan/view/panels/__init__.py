"""The controls of a page, a file a topic.

A panel makes its controls once for a model, and brings them up to date in `refresh`, a few times a second. What the
user does with them becomes settings of the session, or changes of the data that it is asked for.
"""
