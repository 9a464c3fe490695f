"""The floor and the peer that presscheck is measured against."""
