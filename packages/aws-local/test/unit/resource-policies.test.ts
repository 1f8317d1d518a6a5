import { describe, expect, it } from 'vitest';
import { allowsService, parseResourcePolicy } from '../../src/permissions/resource-policies.ts';

const request = {
  service: 'events.amazonaws.com',
  action: 'sqs:SendMessage',
  resource: 'arn:aws:sqs:us-east-1:000000000000:Work',
  context: {
    'aws:SourceArn': 'arn:aws:events:us-east-1:000000000000:rule/Bus/ToWork',
    'aws:SourceAccount': '000000000000',
    'aws:SecureTransport': 'true',
  },
};
const allow = (changes: object = {}) => ({
  Effect: 'Allow',
  Principal: { Service: 'events.amazonaws.com' },
  Action: 'sqs:SendMessage',
  Resource: request.resource,
  ...changes,
});
const isAllowed = (...Statement: object[]) =>
  allowsService(parseResourcePolicy({ Statement }, 'Policy'), request);
const given = (Condition: object) => allow({ Condition });

describe('the policy of a resource', () => {
  it.each([
    ['names the service', true, allow()],
    ['names it among others', true, allow({ Principal: { Service: ['a.amazonaws.com', request.service] } })],
    ['names all principals', true, allow({ Principal: { AWS: '*' } })],
    ['names another service', false, allow({ Principal: { Service: 'sns.amazonaws.com' } })],
    ['names a role', false, allow({ Principal: { AWS: 'arn:aws:iam::000000000000:root' } })],
    ['names another action', false, allow({ Action: ['sqs:ReceiveMessage'] })],
    ['names another queue', false, allow({ Resource: `${request.resource}2` })],
    ['has the source in its pattern', true, given({ ArnLike: { 'AWS:sourcearn': 'arn:*:rule/Bus/*' } })],
    ['has another source', false, given({ ArnEquals: { 'aws:SourceArn': 'arn:*:rule/Other/*' } })],
    [
      'has the account among others',
      true,
      given({ StringEquals: { 'aws:SourceAccount': ['1', '000000000000'] } }),
    ],
    [
      'asks for a key that the service does not send',
      false,
      given({ StringLike: { 'kms:ViaService': '*' } }),
    ],
    ['asks for one only if it is there', true, given({ StringEqualsIfExists: { 'kms:ViaService': 'sqs' } })],
    [
      'has two conditions, one of which does not hold',
      false,
      given({ Bool: { 'aws:SecureTransport': true }, StringEquals: { 'aws:SourceAccount': '1' } }),
    ],
  ])('that %s: %s', (_, expected, statement) => {
    expect(isAllowed(statement)).toBe(expected);
  });

  it('permits nothing when it only denies, and a denial takes precedence', () => {
    const insecure = { Effect: 'Deny', Principal: '*', Action: 'sqs:*', Resource: '*' };
    const denial = { ...insecure, Condition: { Bool: { 'aws:SecureTransport': 'false' } } };
    expect(isAllowed(denial)).toBe(false);
    expect(isAllowed(denial, allow())).toBe(true);
    expect(isAllowed(insecure, allow())).toBe(false);
  });

  it.each([
    ['an element', { ...allow(), NotAction: 'sqs:*' }, /cannot evaluate this statement.*NotAction/s],
    ['an operator', given({ IpAddress: { 'aws:SourceIp': '10.0.0.0/8' } }), /condition operator IpAddress/],
  ])('is refused with %s, which is not evaluated', (_, statement, expected) => {
    expect(() => isAllowed(statement)).toThrow(expected);
  });
});
