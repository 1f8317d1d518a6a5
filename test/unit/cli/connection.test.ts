import type { LocalEnvironment } from 'terminal/local-run/environment-file.ts';
import { describe, expect, it } from 'vitest';
import { type ConnectionFlags, chooseConnection } from '../../../packages/cli/src/connection/connection.ts';

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
const login = { current: elsewhere, keys: new Map([[elsewhere, 'ck_live_stored']]) };
const noLogin = { current: undefined, keys: new Map<string, string>() };

const connect = (
  flags: ConnectionFlags,
  variables: Record<string, string>,
  {
    environment = local as LocalEnvironment | undefined,
    credentials = noLogin as typeof login | typeof noLogin,
  } = {},
) => chooseConnection(flags, { variables, local: environment, credentials });
const nowhere = (variables: Record<string, string>, credentials: typeof login | typeof noLogin = noLogin) =>
  chooseConnection({}, { variables, local: undefined, credentials });

describe('the connection', () => {
  it('uses the local run by default, or its sandbox', () => {
    const live = { baseUrl: local.BASE_URL, key: 'ck_live_local', environment: 'live', isLocalRun: true };
    expect(connect({}, {})).toEqual(live);
    expect(connect({}, { CONVERSATIONS_BASE_URL: '', CONVERSATIONS_API_KEY: '' })).toEqual(live);
    expect(connect({ sandbox: true }, {})).toMatchObject({ key: 'ck_sandbox_local', environment: 'sandbox' });
  });

  it('uses the flags before the variables, and these before the local run', () => {
    const variables = {
      CONVERSATIONS_BASE_URL: 'http://127.0.0.1:1/api/v1',
      CONVERSATIONS_API_KEY: 'ck_sandbox_mine',
    };
    const mine = { key: 'ck_sandbox_mine', isLocalRun: false };
    expect(connect({ baseUrl: elsewhere }, variables)).toMatchObject({ baseUrl: elsewhere, ...mine });
    expect(connect({}, variables)).toMatchObject({ baseUrl: 'http://127.0.0.1:1', ...mine });
  });

  it('uses the key that is stored for the API, and the API of the last login', () => {
    expect(nowhere({}, login)).toMatchObject({ baseUrl: elsewhere, key: 'ck_live_stored' });
    expect(connect({ baseUrl: elsewhere }, {}, { credentials: login }).key).toBe('ck_live_stored');
    expect(connect({}, {}, { credentials: login }).baseUrl).toBe(local.BASE_URL);
  });

  it('never sends the key of an API to another one', () => {
    const elsewhereAgain = () => connect({ baseUrl: 'https://other.example' }, {}, { credentials: login });
    expect(elsewhereAgain).toThrow('There is no key for https://other.example: run conversations login');
  });

  it('is not made unencrypted to another machine', () => {
    const plain = () =>
      connect({ baseUrl: 'http://api.example.com' }, { CONVERSATIONS_API_KEY: 'ck_live_x' });
    expect(plain).toThrow('must be an https URL');
  });

  it('needs a URL where there is no local run', () => {
    expect(() => nowhere({})).toThrow(
      'Which API? Give --base-url or CONVERSATIONS_BASE_URL, or log in: conversations login',
    );
    expect(() => nowhere({ CONVERSATIONS_BASE_URL: 'localhost' })).toThrow('CONVERSATIONS_BASE_URL must be');
  });

  it('is refused without a key of the environment, which is never shown', () => {
    const refused = (key: string) => () => connect({ sandbox: true }, { CONVERSATIONS_API_KEY: key });
    expect(refused('ck_live_secret')).toThrow('CONVERSATIONS_API_KEY is a live key');
    for (const key of ['ck_live_secret', 'secret', 'ck_sandbox_\r\nsecret']) {
      expect(refused(key)).toThrow(/^CONVERSATIONS_API_KEY is /);
      expect(refused(key)).not.toThrow('secret');
    }
  });
});
