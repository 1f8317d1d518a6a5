import type { Statement } from 'aws-local/permissions/statements.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { missingGrants, usedByLambda } from '../../grants/grants.ts';
import { refuseDenied } from '../../grants/records.ts';

const action = fc.constantFrom('dynamodb:GetItem', 'dynamodb:PutItem', 'sqs:SendMessage');
const resource = fc.constantFrom('arn:one', 'arn:two', 'arn:three');
const use = fc.record({ action, resource });
const uses = fc.uniqueArray(use, {
  selector: ({ action: done, resource: on }) => `${done} ${on}`,
  minLength: 1,
});
const statement = (done: string, on: string): Statement => ({
  effect: 'Allow',
  actions: [done],
  resources: [on],
});

describe('the missing grants of a role', () => {
  it('are empty when each use is granted', () => {
    fc.assert(
      fc.property(uses, (used) => {
        const granted = used.map(({ action: done, resource: on }) => statement(done, on));
        expect(missingGrants(granted, used)).toEqual([]);
      }),
    );
  });

  it('are each grant that is removed', () => {
    fc.assert(
      fc.property(uses, fc.nat(), (used, at) => {
        const index = at % used.length;
        const granted = used.map(({ action: done, resource: on }) => statement(done, on));
        expect(missingGrants(granted.toSpliced(index, 1), used)).toEqual([used[index]]);
      }),
    );
  });

  it('are empty when one of the two possible resources is granted', () => {
    const sender = { action: 'ses:SendEmail', resource: 'arn:address', or: 'arn:domain' };
    expect(missingGrants([statement('ses:SendEmail', 'arn:domain')], [sender])).toEqual([]);
    expect(missingGrants([], [sender])).toEqual([sender]);
  });
});

describe("Lambda's own use of a role", () => {
  it('has three actions on a queue', () => {
    expect(usedByLambda({ arn: 'arn:aws:sqs:us-east-1:0:queue' })).toHaveLength(3);
  });

  it('reads a stream, and sends failures to a queue', () => {
    const arn = 'arn:aws:dynamodb:us-east-1:0:table/one/stream/two';
    expect(usedByLambda({ arn, failuresTo: 'arn:dead' }).map(({ action: done }) => done)).toEqual([
      'dynamodb:DescribeStream',
      'dynamodb:GetRecords',
      'dynamodb:GetShardIterator',
      'dynamodb:ListStreams',
      'sqs:SendMessage',
    ]);
  });
});

describe('a call without a grant', () => {
  it('is reported once, with its caller', () => {
    const denied = {
      functionName: 'dispatch',
      action: 'sqs:SendMessage',
      resource: 'arn:q',
      isAllowed: false,
    };
    expect(() => refuseDenied([denied, { ...denied }, { ...denied, isAllowed: true }])).toThrow(
      /^dispatch may not sqs:SendMessage on arn:q$/,
    );
    expect(() => refuseDenied([{ ...denied, isAllowed: true }])).not.toThrow();
  });
});
