"""Is this installation sound?"""
