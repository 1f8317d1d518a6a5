import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { readDirectory, type Variables } from 'terminal/local-run/directory.ts';
import { describe, expect, it } from 'vitest';
import { readSettings } from '../../../lib/local-run/start/settings.ts';
import { startCommand } from '../../../lib/local-run/start/start-command.ts';
import { runProgram } from '../../support/command-line.ts';

const read = (variables: Record<string, string>) => readSettings(variables, '/project');

describe('settings of the local run', () => {
  it('have defaults for required values', () => {
    expect(read({})).toMatchObject({ port: 3000, directory: '/project/.local', directoryShown: '.local' });
  });

  it('leave to the stack what was not given', () => {
    expect(read({})).toMatchObject({
      retryBaseSeconds: undefined,
      retryCapSeconds: undefined,
      attemptTimeoutSeconds: undefined,
      graceSeconds: undefined,
      lingerSeconds: undefined,
      checkEverySeconds: undefined,
      syncCooldownSeconds: undefined,
      noticeSeconds: undefined,
      rateLimitPerMinute: undefined,
      sandboxRateLimitPerMinute: undefined,
    });
  });

  it('accept a rate limit from one call a minute to a thousand million', () => {
    expect(read({ RATE_LIMIT_PER_MINUTE: '1' }).rateLimitPerMinute).toBe(1);
    expect(read({ RATE_LIMIT_PER_MINUTE: '1000000000' }).rateLimitPerMinute).toBe(1_000_000_000);
  });

  it('accept fractions of a second', () => {
    const settings = read({
      RETRY_BASE_SECONDS: '0.2',
      RETRY_CAP_SECONDS: '.5',
      ATTEMPT_TIMEOUT_SECONDS: '1.5',
      CHECK_EVERY_SECONDS: '2.5',
      NOTICE_SECONDS: '10',
    });
    expect(settings).toMatchObject({
      retryBaseSeconds: 0.2,
      retryCapSeconds: 0.5,
      attemptTimeoutSeconds: 1.5,
      checkEverySeconds: 2.5,
      noticeSeconds: 10,
    });
  });

  it('treat an empty variable as absent', () => {
    expect(read({ PORT: '', LOCAL_DIR: '', RETRY_BASE_SECONDS: '', SQS_ENDPOINT: '' })).toEqual(read({}));
  });

  it('make paths absolute', () => {
    const settings = read({ LOCAL_DIR: 'elsewhere' });
    expect(settings.directory).toBe('/project/elsewhere');
    expect(readDirectory({ LOCAL_DIR: '/tmp/x' }, '/project').directory).toBe('/tmp/x');
  });

  it.each([
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '3000.5'],
    ['PORT', 'http'],
    ['RETRY_BASE_SECONDS', '-1'],
    ['RETRY_BASE_SECONDS', '3601'],
    ['LINGER_SECONDS', '3601'],
    ['CHECK_EVERY_SECONDS', '0'],
    ['CHECK_EVERY_SECONDS', '604801'],
    ['SYNC_COOLDOWN_SECONDS', '3601'],
    ['NOTICE_SECONDS', '0.5'],
    ['NOTICE_SECONDS', '2592001'],
    ['RETRY_BASE_SECONDS', '1e3'],
    ['RETRY_CAP_SECONDS', 'soon'],
    ['RETRY_CAP_SECONDS', '43201'],
    ['ATTEMPT_TIMEOUT_SECONDS', '61'],
    ['ATTEMPT_TIMEOUT_SECONDS', '0.05'],
    ['RATE_LIMIT_PER_MINUTE', '0'],
    ['RATE_LIMIT_PER_MINUTE', '-1'],
    ['RATE_LIMIT_PER_MINUTE', '0.5'],
    ['RATE_LIMIT_PER_MINUTE', '1e3'],
    ['RATE_LIMIT_PER_MINUTE', '1000000001'],
    ['SANDBOX_RATE_LIMIT_PER_MINUTE', '0'],
    ['SANDBOX_RATE_LIMIT_PER_MINUTE', 'many'],
    ['DYNAMODB_ENDPOINT', 'localhost:8000'],
    ['SQS_ENDPOINT', 'not a url'],
  ])('name %s when it is %s', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(new RegExp(`^${name} must be .*\\.$`));
  });

  it('refuse a longest delay below the first one', () => {
    expect(() => read({ RETRY_BASE_SECONDS: '10', RETRY_CAP_SECONDS: '5' })).toThrow('which is 10.');
    expect(() => read({ RETRY_CAP_SECONDS: '5' })).toThrow('which is 30.');
  });

  it('refuse more calls for a sandbox than for its organization', () => {
    const limits = { RATE_LIMIT_PER_MINUTE: '100', SANDBOX_RATE_LIMIT_PER_MINUTE: '100' };
    expect(read(limits)).toMatchObject({ rateLimitPerMinute: 100, sandboxRateLimitPerMinute: 100 });
    expect(() => read({ ...limits, RATE_LIMIT_PER_MINUTE: '99' })).toThrow('which is 99.');
    expect(() => read({ SANDBOX_RATE_LIMIT_PER_MINUTE: '6001' })).toThrow('which is 6000.');
  });

  it('are, for any text, a value in range or an error of one line', () => {
    const names = [
      'PORT',
      'RETRY_BASE_SECONDS',
      'RETRY_CAP_SECONDS',
      'ATTEMPT_TIMEOUT_SECONDS',
      'CHECK_EVERY_SECONDS',
      'NOTICE_SECONDS',
      'RATE_LIMIT_PER_MINUTE',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.oneof(fc.string(), fc.float().map(String)), (name, value) => {
        try {
          const settings = read({ [name]: value });
          expect(settings.port).toBeLessThanOrEqual(65_535);
          expect(settings.retryBaseSeconds ?? 1).toBeGreaterThanOrEqual(0);
          expect(settings.rateLimitPerMinute ?? 1).toBeGreaterThanOrEqual(1);
        } catch (error) {
          expect(error).toHaveProperty('name', 'UserError');
          expect(error).toHaveProperty('message', expect.not.stringContaining('\n'));
        }
      }),
    );
  });
});

/** Variables and defaults of the local run in the configuration reference. */
function rowsOfReference(): { name: string; value: string }[] {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/reference/configuration.md'), 'utf8');
  const [, section = ''] = /^## Local run\n([\s\S]*?)^## /m.exec(page) ?? [];
  return [...section.matchAll(/^\| `(\w+)` \| `?([^`|]+?)`? \|/gm)].map(([, name = '', value = '']) => ({
    name,
    value,
  }));
}

/** Variables that the local run reads. */
function settingsRead(): (string | symbol)[] {
  const asked = new Set<string | symbol>(['DYNOXIDE_BIN']);
  const variables: Variables = new Proxy({}, { get: (_, name) => void asked.add(name) });
  readSettings(variables, '/');
  return [...asked].toSorted();
}

it('the help of npm start lists each variable once, with its default', async () => {
  const { output } = await runProgram(() => startCommand(['--help']));
  const [, section = ''] = /^Environment:\n([\s\S]*)/m.exec(output) ?? [];
  const listed = [...section.matchAll(/^ {2}(\w+) {2,}\S.*?(?: \((\S+)\))?$/gm)];
  expect(listed.map(([, name]) => name).toSorted()).toEqual(settingsRead());
  const documented = new Map(rowsOfReference().map(({ name, value }) => [name, value]));
  for (const [, name = '', value = '–'] of listed)
    expect([name, value]).toEqual([name, documented.get(name)]);
});

it('the configuration reference lists each variable once', () => {
  expect(
    rowsOfReference()
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(settingsRead());
});
