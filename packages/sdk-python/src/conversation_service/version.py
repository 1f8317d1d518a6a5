"""The version of this package, which its build reads."""

VERSION = "0.1.0"
