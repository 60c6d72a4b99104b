"""An in-memory replica of the data that searches read, for one state of the database. A question then asks the server
only for its current state.
"""
