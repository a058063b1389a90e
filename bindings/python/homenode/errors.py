"""Errors of usage and input. Each class has a twin in sim/base/errors.hpp; bindings/translate_exceptions.cpp maps them."""


class Error(Exception):
    """Base of every error that homenode raises on purpose."""


class InputError(Error):
    """A file that cannot be used; the message says where, what was found and what is allowed."""


class UsageError(Error):
    """An unknown name or parameter, a value out of range, or a combination that makes no sense."""


class UnitError(UsageError):
    """A quantity without a unit, with an unknown unit, or out of range."""


class PolicyError(Error):
    """A policy broke its contract. An exception of a Python policy is its ``__cause__``, with the user's own traceback."""


class DeadlockError(Error):
    """The simulated program cannot go on; the message names the cycle of waits."""


class CaptureError(Error):
    """The program could not be compiled or traced, or its own check failed; nothing was written."""


class TruncatedTrace(UserWarning):
    """A prediction is of a part of a program: it was ended early, or ran in part on threads of a library, unrecorded."""


class UncountedProgram(UserWarning):
    """A program is captured without its twin, so that the trace has no instructions."""


class DisturbedMachine(UserWarning):
    """A machine's description was measured while other work ran: its numbers may be off by more than they say."""
