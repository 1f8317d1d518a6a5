import { ACCOUNT } from '../arns.ts';
import type { References } from '../template/references.ts';
import type { Template } from '../template/template.ts';
import { allowsService, parseResourcePolicy, type ResourceStatement } from './resource-policies.ts';

/** A service that sends to a queue, and its resource. */
export interface QueueSender {
  /** `events.amazonaws.com`. */
  service: string;
  /** ARN of the rule or bus. */
  sourceArn: string;
}

/** @returns why a service may not send to a queue; undefined if it may */
export type RefusalOfQueue = (queueArn: string, sender: QueueSender) => string | undefined;

/**
 * Actions on an encrypted queue's key for each message that a service sends (SQS Developer Guide, Key
 * management).
 */
const KEY_ACTIONS = ['kms:GenerateDataKey', 'kms:Decrypt'];

/**
 * Evaluates the policies of the template's queues and their keys.
 * @throws LocalRunError for an unsupported policy
 */
export function queueAccess(template: Template, references: References): RefusalOfQueue {
  const policies = queuePolicies(template, references);
  const keys = queueKeys(template, references);
  return (queueArn, { service, sourceArn }) => {
    const context = {
      'aws:SourceArn': sourceArn,
      'aws:SourceAccount': ACCOUNT,
      'aws:SecureTransport': 'true',
    };
    const request = { service, action: 'sqs:SendMessage', resource: queueArn, context };
    if (!allowsService(policies.get(queueArn) ?? [], request))
      return `${service} may not perform sqs:SendMessage on ${queueArn} for ${sourceArn}: no statement of the queue's policy allows it`;
    const key = keys.get(queueArn);
    const refused = key && KEY_ACTIONS.find((action) => !allowsService(key, { ...request, action }));
    return (
      refused &&
      `${service} may not perform ${refused} on the key of ${queueArn} for ${sourceArn}: no statement of the key's policy allows it`
    );
  };
}

/** By queue ARN. */
function queuePolicies(template: Template, references: References): Map<string, ResourceStatement[]> {
  const policies = new Map<string, ResourceStatement[]>();
  const arns = new Map(
    template
      .ofType('AWS::SQS::Queue')
      .map(({ logicalId }) => [
        references.resolve({ Ref: logicalId }),
        String(references.resolve({ 'Fn::GetAtt': [logicalId, 'Arn'] })),
      ]),
  );
  for (const { logicalId, properties } of template.ofType('AWS::SQS::QueuePolicy')) {
    const statements = parseResourcePolicy(references.resolve(properties.PolicyDocument), logicalId);
    for (const url of [references.resolve(properties.Queues)].flat()) {
      const arn = arns.get(url) ?? '';
      policies.set(arn, [...(policies.get(arn) ?? []), ...statements]);
    }
  }
  return policies;
}

/** Key policy statements by queue ARN, for queues with a key of the template; `*` is the key itself. */
function queueKeys(template: Template, references: References): Map<string, ResourceStatement[]> {
  const keys = new Map(
    template.ofType('AWS::KMS::Key').flatMap(({ logicalId, properties: { KeyPolicy } }) => {
      if (KeyPolicy === undefined) return [];
      const statements = parseResourcePolicy(references.resolve(KeyPolicy), logicalId);
      return [{ Ref: logicalId }, { 'Fn::GetAtt': [logicalId, 'Arn'] }].map(
        (name) => [references.resolve(name), statements] as const,
      );
    }),
  );
  return new Map(
    template.ofType('AWS::SQS::Queue').flatMap(({ logicalId, properties: { KmsMasterKeyId } }) => {
      const statements = keys.get(references.resolve(KmsMasterKeyId));
      const arn = String(references.resolve({ 'Fn::GetAtt': [logicalId, 'Arn'] }));
      return statements === undefined ? [] : [[arn, statements] as const];
    }),
  );
}
