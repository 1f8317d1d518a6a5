import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { Defect, failureFields, summarizeError } from '../../../functions/aws/failure-fields.ts';
import { UnknownTenant } from '../../../functions/tenancy/sandbox.ts';

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
      frames: expect.arrayContaining([expect.stringMatching(/failure-fields\.test\.ts:\d+:\d+\)?$/)]),
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
