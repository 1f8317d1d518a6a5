import { describe, expect, it } from 'vitest';
import { parseError } from '../../../../dashboard/src/text/attempt-errors.ts';
import { SIMULATED_FAILURES } from '../../../../functions/domain/simulation.ts';
import {
  BlockedAddressError,
  ForbiddenAddressError,
  ResolutionError,
} from '../../../../functions/platform/outbound/agent.ts';
import {
  DeadlineError,
  describeFailure,
  InterimResponsesError,
} from '../../../../functions/platform/outbound/failures.ts';

const CODES = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPROTO',
  'EMFILE',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'HPE_HEADER_OVERFLOW',
  'HPE_INVALID_CONSTANT',
];
const ERRORS: [string, Error][] = [
  ...CODES.map((code): [string, Error] => [code, Object.assign(new Error(code), { code })]),
  ['an unknown name', new ResolutionError(true)],
  ['a failed name server', new ResolutionError(false)],
  ['a private address', new ForbiddenAddressError('private')],
  ['a blocked address', new BlockedAddressError('blocked')],
  ['a deadline', new DeadlineError()],
  ['interim responses', new InterimResponsesError()],
];

describe('descriptions of failures', () => {
  it.each(ERRORS)('have a translation in the dashboard: %s', (_name, error) => {
    expect(parseError(describeFailure(error, 10_000))).toBeDefined();
  });

  it('have a translation in the dashboard: simulated failures', () => {
    for (const text of Object.values(SIMULATED_FAILURES)) expect(parseError(text), text).toBeDefined();
  });
});
