import { expect, it } from 'vitest';
import { signatureFault } from '../../../src/gateway/signature.ts';

it.each([
  [
    'Bearer ck_live_1',
    "'ck_live_1' not a valid key=value pair (missing equal-sign) in Authorization header: 'Bearer ck_live_1'.",
  ],
  [
    'ck_live_1',
    "Authorization header requires 'Credential' parameter. Authorization header requires 'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. Authorization=ck_live_1",
  ],
  [
    'AWS4-HMAC-SHA256 Credential=a/b, Signature=c',
    "Authorization header requires 'SignedHeaders' parameter. Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. Authorization=AWS4-HMAC-SHA256 Credential=a/b, Signature=c",
  ],
  [
    'AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host, Signature=c',
    'The security token included in the request is invalid.',
  ],
])('the gateway parses the header %s of an unmatched request as a signature', (header, message) => {
  expect(signatureFault(header, false)).toBe(message);
});
