"""The screen of one thing of an organization that changes while it is shown, such as an import or a conversation."""
