import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { type FieldKind, type Line, LOG_CODES, type LogCode } from '../../../functions/aws/log-codes.ts';
import { Defect, failureFields, OWN_ERRORS, summarizeError } from '../../../functions/aws/logger.ts';
import { UnknownTenant } from '../../../functions/tenancy/organizations.ts';
import { INVOCATION } from '../../support/functions.ts';
import { capturingLogger } from './capturing-logger.ts';

const CANARY = 'canary7f3a';

/** Errors from the calls that carry secrets. */
const SPEAKING: Readonly<Record<string, () => unknown>> = {
  'of a parser': () => thrownBy(() => JSON.parse(`{"name":"${CANARY}`)),
  'of a schema that met another type': () =>
    thrownBy(() => z.object({ name: z.number() }).parse({ name: CANARY })),
  'of a schema, below an attribute': () =>
    thrownBy(() => z.object({ all: z.record(z.string(), z.number()) }).parse({ all: { [CANARY]: 'x' } })),
  'of the SDK': () =>
    new DynamoDBServiceException({
      name: 'ValidationException',
      $fault: 'client',
      message: `cannot be converted: ${CANARY}`,
      $metadata: { httpStatusCode: 400, requestId: 'AWSREQUEST', attempts: 1 },
    }),
  'with a secret message': () => new Error(CANARY),
  'with a secret name': () => Object.assign(new Error('x'), { name: `an ${CANARY} error` }),
  'with a secret code': () => Object.assign(new Error('x'), { code: `code ${CANARY}` }),
  'with such a cause': () => new Error('x', { cause: new Error('y', { cause: new Error(CANARY) }) }),
  'of several': () => new AggregateError([new Error(CANARY)], CANARY),
  'whose message looks like a frame': () => new Error(`x\n    at ${CANARY} (file:///var/task/index.mjs:1:1)`),
  'whose message was changed since': () => {
    const error = new Error(`x\n    at ${CANARY} (file:///var/task/index.mjs:1:1)`);
    error.message = 'another';
    return error;
  },
  'with additional fields': () => Object.assign(new Error('x'), { body: CANARY, url: CANARY }),
  'of the service, about an address': () => new Defect(`ada@${CANARY}.example failed`),
  'of the service, about a URL with a query': () => new Defect(`https://example.com/?token=${CANARY} failed`),
  'that is a text': () => CANARY,
  'that is no error': () => ({ message: CANARY, name: CANARY }),
};

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('the log fields of an error', () => {
  it.each(Object.entries(SPEAKING))('contain no secret of an error %s', (_, make) => {
    const error = make();
    expect(JSON.stringify(failureFields(error))).not.toContain(CANARY);
    expect(summarizeError(error)).not.toContain(CANARY);
  });

  it('contain no message text', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        const error = new TypeError(`${before}${CANARY}${after}`);
        expect(JSON.stringify(failureFields(error))).not.toContain(CANARY);
      }),
    );
  });

  it('name the error and where it was thrown', () => {
    expect(failureFields(new RangeError('too much'))).toEqual({
      name: 'RangeError',
      frames: expect.arrayContaining([expect.stringMatching(/logger\.test\.ts:\d+:\d+\)?$/)]),
    });
  });

  it('keep the message of an error class of the service', () => {
    expect(failureFields(new UnknownTenant('there is no organization org_1'))).toMatchObject({
      name: 'UnknownTenant',
      message: 'there is no organization org_1',
    });
    expect(summarizeError(new Defect('the pipeline ran out of order'))).toBe(
      'Defect the pipeline ran out of order',
    );
  });

  it("keep AWS's fields of a failed call", () => {
    expect(failureFields(SPEAKING['of the SDK']?.())).toMatchObject({
      name: 'ValidationException',
      status: 400,
      awsRequestId: 'AWSREQUEST',
      attempts: 1,
    });
  });

  it('keep the code of a failed connection', () => {
    expect(failureFields(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }))).toMatchObject({
      code: 'ECONNREFUSED',
    });
  });

  it('name the attribute that failed its schema, and the reason', () => {
    expect(failureFields(SPEAKING['of a schema that met another type']?.())).toMatchObject({
      name: expect.stringContaining('ZodError'),
      issues: ['name invalid_type'],
    });
  });

  it('follow causes, and end at a cycle', () => {
    const error = new Error('x');
    error.cause = new Defect('y', { cause: error });
    expect(failureFields(error)).toMatchObject({
      name: 'Error',
      cause: { name: 'Defect', message: 'y', cause: { name: 'Error' } },
    });
  });
});

const codes = Object.keys(LOG_CODES) as LogCode[];
const aCode = fc.constantFrom(...codes);
/** With a space, so that it is no id. */
const SECRET = 'canary 7f3a';

/** Values that do not match a kind, and must not be logged as one. */
const FOREIGN: Readonly<Record<FieldKind, fc.Arbitrary<unknown>>> = {
  id: fc.oneof(
    fc.string().map((text) => `${text} ${SECRET}`),
    fc.constantFrom(`ada@example.com?${SECRET}`, { [SECRET]: SECRET }, [SECRET], `ck_live_${SECRET}`),
  ),
  words: fc.constantFrom(`{"name":"${SECRET}"}`, `ada@${SECRET}`, `https://example.com/?x=${SECRET}`, [
    SECRET,
  ]),
  count: fc.constantFrom(SECRET, [SECRET]),
  counts: fc.constantFrom(SECRET, { [SECRET]: 1 }, { added: SECRET }),
  flag: fc.constant(SECRET),
  failure: fc.constantFrom(SECRET, new Error(SECRET), { message: SECRET }),
};

describe('a log line', () => {
  it.each(codes)('%s has the level and the meaning of its code', (code) => {
    const { log, lines } = capturingLogger('DEBUG');
    log(code, {});
    const { level, message } = LOG_CODES[code];
    expect(lines).toMatchObject([{ code, level: level.toUpperCase(), message }]);
  });

  it('has the fields that its code declares', () => {
    const { log, lines } = capturingLogger();
    const fields = {
      webhookId: 'whk_1',
      generation: 0,
      hour: '2026-11-21T01:00:00.000Z',
      ledger: { added: 2 },
      deliveries: { added: 3 },
      traceId: '1-5759e988-bd862e3fe1be46a994272793',
    };
    log('LEDGER_DIFFERS', fields);
    expect(lines).toMatchObject([fields]);
  });

  it('has no field that its code does not declare, from any source', () => {
    const { log, lines } = capturingLogger();
    const more = { deliveryId: 'dlv_1', body: SECRET, error: new Error(SECRET), __proto__: { x: SECRET } };
    log('DELIVERY_EXPIRED', more);
    expect(lines).toMatchObject([{ deliveryId: 'dlv_1' }]);
    expect(JSON.stringify(lines)).not.toContain(SECRET);
  });

  it('omits a value that does not match its field’s kind', () => {
    fc.assert(
      fc.property(
        aCode.chain((code) => {
          const declared: Line['fields'] = LOG_CODES[code].fields;
          const fields = Object.fromEntries(
            Object.entries(declared).map(([name, kind]) => [name, FOREIGN[kind]]),
          );
          return fc.tuple(fc.constant(code), fc.record(fields, { requiredKeys: [] }));
        }),
        ([code, fields]) => {
          const { log, lines } = capturingLogger('DEBUG');
          log(code, fields);
          expect(JSON.stringify(lines)).not.toContain(SECRET);
        },
      ),
    );
  });

  it.each(['ck_live_0123', 'ck_test_0123', 'cvt_0123', 'whsec_0123', 'eyJhbGciOiJSUzI1NiJ9.e30.x'])(
    'does not accept %s, a credential, as a name',
    (credential) => {
      const { log, lines } = capturingLogger();
      log('DELIVERY_EXPIRED', { deliveryId: credential });
      expect(lines).toMatchObject([{ deliveryId: '[withheld]' }]);
    },
  );
});

describe('an invocation', () => {
  it('adds its own context to its lines, and nothing of the previous invocation', () => {
    const { begin, add, log, lines } = capturingLogger();
    begin(INVOCATION);
    add({ orgId: 'org_1', keyId: 'key_1', traceId: 'trace-1' });
    log('CHECK_TOO_LATE', {});
    begin(INVOCATION);
    add({ traceId: 'trace-2' });
    log('CHECK_TOO_LATE', {});
    expect(lines).toMatchObject([
      { function_name: INVOCATION.functionName, orgId: 'org_1', keyId: 'key_1', traceId: 'trace-1' },
      { function_name: INVOCATION.functionName, traceId: 'trace-2' },
    ]);
    expect(lines[1]).not.toHaveProperty('orgId');
    expect(lines[1]).not.toHaveProperty('keyId');
  });

  it('is described only by the declared fields', () => {
    const { add, log, lines } = capturingLogger();
    add({ userId: 'ada@example.com', ...{ secret: SECRET } });
    log('CHECK_TOO_LATE', {});
    expect(lines).toMatchObject([{ userId: '[withheld]' }]);
    expect(JSON.stringify(lines)).not.toContain(SECRET);
  });
});

const FUNCTIONS = join(import.meta.dirname, '../../../functions');
const CLASS = /class (\w+) extends \w+ \{(?:\s*\/\*\*.*?\*\/)?\s*override (?:readonly )?name = '(\w+)'/gs;

const namesIn = (source: string): [name: string, shown: string][] =>
  [...source.matchAll(CLASS)].map(([, name = '', shown = '']) => [name, shown]);

describe('an error of the service', () => {
  const errors = globSync('**/*.ts', { cwd: FUNCTIONS }).flatMap((path) =>
    namesIn(readFileSync(join(FUNCTIONS, path), 'utf8')),
  );

  it('is logged by the name of its class', () => {
    expect(errors.length).toBeGreaterThan(15);
    // Errors with AWS's name for a throttled request count as throttling.
    expect(errors.filter(([name, shown]) => name !== shown && shown !== 'ThrottlingException')).toEqual([]);
  });

  it('has its message logged only while a class has its name', () => {
    expect([...OWN_ERRORS].filter((own) => !errors.some(([name]) => name === own))).toEqual([]);
  });
});
