"""Decisions about membership, grants and tokens: pure functions of what stands and of what is asked."""
