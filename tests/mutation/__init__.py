"""Mutation testing of rules, views and worlds: see __main__."""
