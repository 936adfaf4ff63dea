"""Language models that grade: over HTTP, or in this process. They know chats, and nothing of metrics."""
