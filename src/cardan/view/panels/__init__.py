"""The controls of a page, one file for each topic.

A panel makes its controls once for each model, and updates them in `refresh`, a few times per second. When a
user changes a control, the panel changes settings of the session, or posts a command that changes the data.
"""
