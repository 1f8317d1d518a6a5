# Written by `npm run generate -- python`. Do not edit.
from ..errors import ApiError


class ValidationError(ApiError):
    """`VALIDATION_ERROR`"""


class AuthenticationError(ApiError):
    """`AUTHENTICATION_ERROR`"""


class PermissionDeniedError(ApiError):
    """`PERMISSION_DENIED`"""


class NotFoundError(ApiError):
    """`NOT_FOUND`"""


class MethodNotAllowedError(ApiError):
    """`METHOD_NOT_ALLOWED`"""


class ConflictError(ApiError):
    """`CONFLICT`"""


class SandboxNotProvisionedError(ApiError):
    """`SANDBOX_NOT_PROVISIONED`"""


class LimitExceededError(ApiError):
    """`LIMIT_EXCEEDED`"""


class GoneError(ApiError):
    """`GONE`"""


class PayloadTooLargeError(ApiError):
    """`PAYLOAD_TOO_LARGE`"""


class UnsupportedMediaTypeError(ApiError):
    """`UNSUPPORTED_MEDIA_TYPE`"""


class IdempotencyKeyReusedError(ApiError):
    """`IDEMPOTENCY_KEY_REUSED`"""


class RateLimitedError(ApiError):
    """`RATE_LIMITED`"""


class RequestHeadersTooLargeError(ApiError):
    """`REQUEST_HEADERS_TOO_LARGE`"""


class InternalError(ApiError):
    """`INTERNAL_ERROR`"""


class ServiceUnavailableError(ApiError):
    """`SERVICE_UNAVAILABLE`"""


CLASSES: dict[str, type[ApiError]] = {
    "VALIDATION_ERROR": ValidationError,
    "AUTHENTICATION_ERROR": AuthenticationError,
    "PERMISSION_DENIED": PermissionDeniedError,
    "NOT_FOUND": NotFoundError,
    "METHOD_NOT_ALLOWED": MethodNotAllowedError,
    "CONFLICT": ConflictError,
    "SANDBOX_NOT_PROVISIONED": SandboxNotProvisionedError,
    "LIMIT_EXCEEDED": LimitExceededError,
    "GONE": GoneError,
    "PAYLOAD_TOO_LARGE": PayloadTooLargeError,
    "UNSUPPORTED_MEDIA_TYPE": UnsupportedMediaTypeError,
    "IDEMPOTENCY_KEY_REUSED": IdempotencyKeyReusedError,
    "RATE_LIMITED": RateLimitedError,
    "REQUEST_HEADERS_TOO_LARGE": RequestHeadersTooLargeError,
    "INTERNAL_ERROR": InternalError,
    "SERVICE_UNAVAILABLE": ServiceUnavailableError,
}

__all__ = [
    "AuthenticationError",
    "ConflictError",
    "GoneError",
    "IdempotencyKeyReusedError",
    "InternalError",
    "LimitExceededError",
    "MethodNotAllowedError",
    "NotFoundError",
    "PayloadTooLargeError",
    "PermissionDeniedError",
    "RateLimitedError",
    "RequestHeadersTooLargeError",
    "SandboxNotProvisionedError",
    "ServiceUnavailableError",
    "UnsupportedMediaTypeError",
    "ValidationError",
]
