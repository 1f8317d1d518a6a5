import base64
import hashlib
import hmac
import time


def is_genuine(secret: str, id: str | None, timestamp: str | None, signatures: str | None, body: bytes) -> bool:
    if not (id and timestamp and signatures):
        return False
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 16):
        return False
    if abs(time.time() - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    return any(hmac.compare_digest(expected, signature.encode()) for signature in signatures.split(" "))
