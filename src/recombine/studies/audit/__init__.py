"""Ours: is the audit right, does its prior transfer, and does a plan save data?"""
