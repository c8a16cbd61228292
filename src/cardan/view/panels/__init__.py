"""The controls of a page, one file for each topic.

A panel makes its controls once for a model, and updates them in `refresh`, a few times per second. A user's change of a
control changes settings of the session, or posts a command that changes the data.
"""
