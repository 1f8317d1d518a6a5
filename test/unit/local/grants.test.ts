import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Statement } from '../../../lib/local/permissions/statements.ts';
import { difference, grantsOf, usedByLambda } from '../../grants/grants.ts';
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

describe('a role and its use', () => {
  it('do not differ when each grant is used', () => {
    fc.assert(
      fc.property(uses, (used) => {
        const granted = used.map(({ action: done, resource: on }) => statement(done, on));
        expect(difference(granted, used)).toEqual({ unused: [], missing: [] });
      }),
    );
  });

  it('differ by each grant that is taken away, and by each that nobody uses', () => {
    fc.assert(
      fc.property(uses, fc.nat(), (used, at) => {
        const index = at % used.length;
        const granted = used.map(({ action: done, resource: on }) => statement(done, on));
        expect(difference(granted.toSpliced(index, 1), used)).toEqual({ unused: [], missing: [used[index]] });
        expect(difference(granted, used.toSpliced(index, 1))).toEqual({ unused: [used[index]], missing: [] });
      }),
    );
  });

  it('a use may be of either of two resources', () => {
    const sender = { action: 'ses:SendEmail', resource: 'arn:address', or: 'arn:domain' };
    const both = [statement('ses:SendEmail', 'arn:address'), statement('ses:SendEmail', 'arn:domain')];
    expect(difference(both, [sender])).toEqual({ unused: [], missing: [] });
    expect(difference([], [sender]).missing).toEqual([sender]);
  });

  it('logs are written by Lambda, not by the function', () => {
    expect(grantsOf([statement('logs:PutLogEvents', 'arn:group')])).toEqual([]);
  });
});

describe('what Lambda does with a role', () => {
  it('is three actions on a queue', () => {
    expect(usedByLambda({ arn: 'arn:aws:sqs:us-east-1:0:queue' })).toHaveLength(3);
  });

  it('is reading a stream, and leaving what it gave up in a queue', () => {
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

describe('a call that a role does not allow', () => {
  it('is told, each once, with whose it was', () => {
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
