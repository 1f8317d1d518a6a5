import { describe, expect, it } from 'vitest';
import { baseUrlOf } from '../../../../packages/cli/src/connection/base-url.ts';
import { forwardCommand, toForwardArguments } from '../../../../packages/cli/src/forward/arguments.ts';
import { runCommandLine, usageError } from '../../../support/command-line.ts';

const readForwardArguments = (args: readonly string[]) =>
  toForwardArguments(forwardCommand().parse(args, { from: 'user' }).opts());
const TO = ['--to', 'http://localhost:4000/hooks'];
const read = (...args: string[]) => readForwardArguments([...TO, ...args]);

describe('arguments of forward', () => {
  it('follow all endpoints from now on by default', () => {
    expect(read()).toEqual({
      to: new URL('http://localhost:4000/hooks'),
      webhooks: [],
      baseUrl: undefined,
      since: { kind: 'ago', milliseconds: 0 },
      state: undefined,
      fresh: false,
      once: false,
    });
  });

  it('are all read', () => {
    expect(
      read(
        '--base-url',
        'https://api.example.com',
        '--since',
        '10m',
        '--state',
        'x.json',
        '--once',
        '--fresh',
      ),
    ).toMatchObject({
      baseUrl: 'https://api.example.com',
      since: { kind: 'ago', milliseconds: 600_000 },
      state: 'x.json',
      fresh: true,
      once: true,
    });
  });

  it('name endpoints one by one or together, each once', () => {
    expect(read('--endpoint', 'whk_1,whk_2', '--endpoint', 'whk_3', '--endpoint', ' whk_1').webhooks).toEqual(
      ['whk_1', 'whk_2', 'whk_3'],
    );
  });

  it.each([
    ['30s', { kind: 'ago', milliseconds: 30_000 }],
    ['2h', { kind: 'ago', milliseconds: 7_200_000 }],
    ['3d', { kind: 'ago', milliseconds: 259_200_000 }],
    ['all', { kind: 'all' }],
  ])('read the time %s', (text, since) => {
    expect(read('--since', text).since).toEqual(since);
  });

  it('may ask only for help', () => {
    expect(runCommandLine(() => readForwardArguments(['--help'])).code).toBe(0);
  });

  it.each([
    [[], "required option '--to <url>' not specified"],
    [['--to', 'localhost:4000'], '--to'],
    [['--to', 'ftp://localhost'], '--to'],
    [[...TO, '--endpoint', 'dlv_1'], '--endpoint'],
    [[...TO, '--endpoint', 'whk_1,'], '--endpoint'],
    [[...TO, '--base-url', 'localhost'], '--base-url'],
    [[...TO, '--since', 'yesterday'], '--since'],
    [[...TO, '--since', '10'], '--since'],
    [[...TO, '--since', '-1m'], '--since'],
    [[...TO, '--state', ''], '--state'],
    [[...TO, '--key', 'ck_sandbox_x'], '--key'],
    [[...TO, 'now'], 'too many arguments'],
    [[...TO, '--state', '--once'], '--state'],
  ])('are refused with a message about %j', (args, name) => {
    expect(usageError(() => readForwardArguments(args))).toContain(name);
  });
});

describe('the URL of the API', () => {
  it.each([
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://localhost:3000/', 'http://localhost:3000'],
    [
      'https://x.execute-api.eu-central-1.amazonaws.com/api/',
      'https://x.execute-api.eu-central-1.amazonaws.com',
    ],
    ['https://api.example.com/api/v1', 'https://api.example.com'],
    ['https://example.com/conversations/api/v1/', 'https://example.com/conversations'],
  ])('is parsed from %s', (text, baseUrl) => {
    expect(baseUrlOf(new URL(text))).toBe(baseUrl);
  });
});
