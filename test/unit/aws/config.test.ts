import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import {
  ApiEnvironment,
  ConfigurationError,
  outboundUserAgent,
  reachableReceivers,
  readEnvironment,
  StatsEnvironment,
  UsageEnvironment,
} from '../../../functions/aws/config.ts';
import { FirstAttemptQueues, JobQueues } from '../../../functions/delivery/lanes.ts';
import { DEFAULT_RETRY_POLICY, retryPolicy } from '../../../functions/delivery/timing.ts';
import { DispatchEnvironment } from '../../../functions/workers/dispatch.ts';
import { EnrolEnvironment } from '../../../functions/workers/enrol.ts';
import { FUNCTION_ENVIRONMENT } from '../../support/functions.ts';

const dispatch = {
  SERVICE_TABLE: 'service',
  OUTBOX_TABLE: 'outbox',
  DELIVERIES_TABLE: 'deliveries',
  RATE_TABLE: 'rates',
  FRESH_QUEUE: 'https://sqs.example/fresh',
  RETRY_QUEUE: 'https://sqs.example/retry',
  SLOW_QUEUE: 'https://sqs.example/slow',
  STALLED_QUEUE: 'https://sqs.example/stalled',
  SIGNING_KEYS: 'arn:signing',
  RETRY_BASE_SECONDS: '30',
  RETRY_CAP_SECONDS: '3600',
  ATTEMPT_TIMEOUT_SECONDS: '0.5',
  GRACE_SECONDS: '900',
};

const WORKERS = join(import.meta.dirname, '../../../functions/workers');

/** The modules of the workers, by name. */
const workers = await Promise.all(
  globSync('*.ts', { cwd: WORKERS }).map(
    async (file): Promise<[name: string, exports: Record<string, unknown>]> => [
      basename(file, '.ts'),
      await import(join(WORKERS, file)),
    ],
  ),
);

describe.each(workers)('the worker %s', (_, exports) => {
  it('exports only its handler and the schema of its environment', () => {
    const names = Object.keys(exports).sort();
    expect(names).toEqual([expect.stringMatching(/^[A-Z]\w+Environment$/), 'handler']);
    expect(exports.handler).toBeTypeOf('function');
  });
});

const environments = [
  ['an endpoint function', ApiEnvironment],
  ['the function that reads the ledger', StatsEnvironment],
  ['the function that reads usage', UsageEnvironment],
  ...workers.flatMap(([name, exports]) =>
    Object.values(exports).flatMap((exported): [string, z.ZodMiniObject][] =>
      // One of optional variables only is never refused.
      exported instanceof z.ZodMiniObject && !exported.safeParse({}).success ? [[name, exported]] : [],
    ),
  ),
] as const;

const messageOf = (action: () => unknown): string => {
  try {
    action();
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message;
    throw error;
  }
  return '';
};

describe.each(environments)('the environment of %s', (_, schema) => {
  const variables = Object.keys(schema.shape);
  const given: Readonly<Record<string, string>> = FUNCTION_ENVIRONMENT;
  const complete = Object.fromEntries(variables.map((name) => [name, given[name]]));

  it('is accepted when it is complete', () => {
    expect(Object.keys(readEnvironment(schema, complete)).sort()).toEqual([...variables].sort());
  });

  it('is refused with the name of each missing variable', () => {
    const message = messageOf(() => readEnvironment(schema, {}));
    for (const name of variables) expect(message).toContain(name);
  });

  it.each(variables)('is refused with the name of %s alone when that is empty', (name) => {
    const message = messageOf(() => readEnvironment(schema, { ...complete, [name]: '' }));
    expect(variables.filter((variable) => message.includes(variable))).toEqual([name]);
  });
});

describe('the environment of a function', () => {
  it('has numbers, fractions included, where the schema says so', () => {
    expect(readEnvironment(DispatchEnvironment, dispatch)).toMatchObject({
      RETRY_BASE_SECONDS: 30,
      RETRY_CAP_SECONDS: 3600,
      ATTEMPT_TIMEOUT_SECONDS: 0.5,
      GRACE_SECONDS: 900,
    });
  });

  it.each(['', 'thirty', '-1', '1e3', '1.', '.5', 'NaN', 'Infinity', ' 30', '30s'])(
    'has no number written as %j',
    (text) => {
      const environment = { ...dispatch, RETRY_BASE_SECONDS: text };
      expect(() => readEnvironment(DispatchEnvironment, environment)).toThrow(/RETRY_BASE_SECONDS/);
    },
  );

  it('is not repeated in error messages', () => {
    const environment = { ...dispatch, RETRY_BASE_SECONDS: 'canary' };
    expect(messageOf(() => readEnvironment(DispatchEnvironment, environment))).not.toContain('canary');
  });

  it('has only the variables that the function declares', () => {
    expect(readEnvironment(EnrolEnvironment, { ...dispatch, OTHER: 'x' })).toEqual({
      SERVICE_TABLE: 'service',
    });
  });
});

it('first attempts have queues of their own, separate from the retry queue', () => {
  expect(Object.keys(FirstAttemptQueues).sort()).toEqual(['FRESH_QUEUE', 'SLOW_QUEUE', 'STALLED_QUEUE']);
  expect(Object.keys(JobQueues).sort()).toEqual(['SLOW_QUEUE', 'STALLED_QUEUE']);
});

describe('the retry policy', () => {
  it('takes base and cap from the environment, and the number of attempts from the code', () => {
    const environment = readEnvironment(DispatchEnvironment, {
      ...dispatch,
      RETRY_BASE_SECONDS: '0.1',
      RETRY_CAP_SECONDS: '2',
    });
    expect(retryPolicy(environment)).toEqual({ ...DEFAULT_RETRY_POLICY, baseSeconds: 0.1, capSeconds: 2 });
  });
});

describe('receivers at loopback and at IPv6 addresses', () => {
  it.each([
    [undefined, 'refuse'],
    ['', 'refuse'],
    ['ALLOW', 'refuse'],
    ['true', 'refuse'],
    ['allow', 'allow'],
  ] as const)('with the settings %j: %s', (setting, expected) => {
    const environment = { LOOPBACK_RECEIVERS: setting, IPV6_RECEIVERS: setting };
    expect(reachableReceivers({ ...environment, AWS_EXECUTION_ENV: 'local_nodejs24.x' })).toEqual({
      loopback: expected,
      ipv6: expected,
    });
  });

  it.each(['AWS_Lambda_nodejs24.x', 'AWS_Lambda_', undefined])(
    'loopback stops a function from loading when its stage is %j',
    (place) => {
      const environment = { LOOPBACK_RECEIVERS: 'allow', AWS_EXECUTION_ENV: place };
      expect(() => reachableReceivers(environment)).toThrow(ConfigurationError);
    },
  );

  it('are refused in Lambda, where functions load without the settings', () => {
    const environment = { AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' };
    expect(reachableReceivers(environment)).toEqual({ loopback: 'refuse', ipv6: 'refuse' });
  });
});

it.each([
  [{}, 'ConversationService-Webhooks/1.0'],
  [
    { SENDER_URL: 'https://api.example.com/api/docs' },
    'ConversationService-Webhooks/1.0 (+https://api.example.com/api/docs)',
  ],
  [
    { SENDER_URL: 'https://api.example.com/api/docs', SENDER_CONTACT: 'abuse@example.com' },
    'ConversationService-Webhooks/1.0 (+https://api.example.com/api/docs; abuse@example.com)',
  ],
])('the user agent with %j is %s', (environment, text) => {
  expect(outboundUserAgent('ConversationService-Webhooks', environment)).toBe(text);
});
