"""Screens of items that change while they are shown, such as imports and conversations."""
