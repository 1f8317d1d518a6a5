import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type LocalEnvironment,
  parseEnvironment,
  quoteForShell,
  renderEnvironment,
} from '../../src/local-run/environment-file.ts';

const environment: LocalEnvironment = {
  BASE_URL: 'http://localhost:3000',
  API_KEY: 'ck_live_abc',
  ORG_ID: 'org_1',
  ADMIN_TOKEN: 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln',
  MEMBER_TOKEN: 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln',
  OIDC_ISSUER: 'http://localhost:20000',
  OIDC_CLIENT_ID: 'Dashboard',
  SANDBOX_API_KEY: 'ck_sandbox_abc',
  SANDBOX_ORG_ID: 'org_2',
  MAILBOX_URL: 'http://localhost:3000/mailbox',
  CA_FILE: '/home/it is/$HOME `x` "quoted"/ca.pem',
  RECEIVER_CERT_FILE: "/it's/receiver-cert.pem",
  RECEIVER_KEY_FILE: '/a\nb/receiver-key.pem',
};

describe('environment file', () => {
  it('gives a shell exactly the values', () => {
    const script = `${renderEnvironment(environment)}printf '%s|' "$CA_FILE" "$RECEIVER_CERT_FILE" "$RECEIVER_KEY_FILE"`;
    const printed = execFileSync('sh', ['-c', script], { encoding: 'utf8' });
    expect(printed).toBe(
      `${environment.CA_FILE}|${environment.RECEIVER_CERT_FILE}|${environment.RECEIVER_KEY_FILE}|`,
    );
  });

  it('is read back as written', () => {
    const value = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(value, value, (API_KEY, CA_FILE) => {
        const written = { ...environment, API_KEY, CA_FILE };
        expect(parseEnvironment(renderEnvironment(written))).toEqual(written);
      }),
    );
  });

  it('is read among lines that a user added', () => {
    expect(parseEnvironment(`# mine\nexport OTHER=1\n${renderEnvironment(environment)}`)).toEqual(
      environment,
    );
  });

  it('is recognized without the values that earlier versions did not write', () => {
    const {
      ADMIN_TOKEN: _,
      MEMBER_TOKEN: __,
      OIDC_ISSUER: ___,
      OIDC_CLIENT_ID: ____,
      SANDBOX_API_KEY: _____,
      SANDBOX_ORG_ID: ______,
      MAILBOX_URL: _______,
      ...earlier
    } = environment;
    const text = renderEnvironment(earlier);
    expect(text).not.toMatch(/TOKEN|OIDC|SANDBOX|MAILBOX/);
    expect(parseEnvironment(text)).toEqual(earlier);
  });

  it('is not recognized when a name is missing', () => {
    expect(
      parseEnvironment(renderEnvironment(environment).replace(/^export API_KEY.*\n/m, '')),
    ).toBeUndefined();
    expect(parseEnvironment('')).toBeUndefined();
  });

  it('quotes a single quote', () => {
    expect(quoteForShell("it's")).toBe(`'it'\\''s'`);
  });
});
