"""Chat models and the engine that calls them: OpenAI-compatible, scripted, taped.

May not know what the replies are for.
"""
