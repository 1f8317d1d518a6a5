import { describe, expect, it } from 'vitest';
import type { LocalEnvironment } from '../../../../lib/cli/environment-file.ts';
import { connectionOf } from '../../../../lib/cli/forward/connection.ts';

const local: LocalEnvironment = {
  BASE_URL: 'http://localhost:3000',
  API_KEY: 'ck_live_local',
  ORG_ID: 'org_1',
  SANDBOX_API_KEY: 'ck_sandbox_local',
  SANDBOX_ORG_ID: 'org_2',
  CA_FILE: '/ca.pem',
  RECEIVER_CERT_FILE: '/receiver-cert.pem',
  RECEIVER_KEY_FILE: '/receiver-key.pem',
};
const elsewhere = 'https://api.example.com';
const connect = (
  given: string | undefined,
  variables: Record<string, string>,
  environment: LocalEnvironment | undefined = local,
) => connectionOf(given, variables, environment, '.local/env');

describe('the connection to the sandbox', () => {
  it('uses the local run by default', () => {
    expect(connect(undefined, {})).toEqual({ baseUrl: local.BASE_URL, key: 'ck_sandbox_local' });
    expect(connect(undefined, { BASE_URL: '', SANDBOX_API_KEY: '' })).toEqual({
      baseUrl: local.BASE_URL,
      key: 'ck_sandbox_local',
    });
  });

  it('uses the flags before the variables', () => {
    const variables = { BASE_URL: 'http://127.0.0.1:1/', SANDBOX_API_KEY: 'ck_sandbox_mine' };
    expect(connect(elsewhere, variables)).toEqual({ baseUrl: elsewhere, key: 'ck_sandbox_mine' });
    expect(connect(undefined, variables)).toEqual({
      baseUrl: 'http://127.0.0.1:1',
      key: 'ck_sandbox_mine',
    });
  });

  it("never sends the local run's key to another API", () => {
    expect(() => connect(elsewhere, {})).toThrow(
      `Set SANDBOX_API_KEY to a key of the sandbox at ${elsewhere}`,
    );
    expect(() => connect(undefined, { BASE_URL: elsewhere })).toThrow('Set SANDBOX_API_KEY');
  });

  it('needs a URL where there is no local run', () => {
    const nowhere = () => connectionOf(undefined, {}, undefined, '.local/env');
    expect(nowhere).toThrow('Give --base-url or BASE_URL, or start the local run (npm start)');
  });

  it('is refused for a live key, which is never shown', () => {
    for (const key of ['ck_live_secret', 'secret', 'ck_sandbox_\r\nsecret']) {
      const refused = () => connect(undefined, { SANDBOX_API_KEY: key });
      expect(refused).toThrow(/^SANDBOX_API_KEY (is a live key|must be a key of a sandbox)/);
      expect(refused).not.toThrow('secret');
    }
  });
});
