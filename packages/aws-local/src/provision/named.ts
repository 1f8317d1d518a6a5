import { keyArn, topicArn } from '../arns.ts';
import type { References } from '../template/references.ts';
import type { Template } from '../template/template.ts';

/**
 * Defines resources that only have references here: encryption keys (the state directory is private already),
 * topics, and domains (the API is called by its port).
 */
export function defineNamed(template: Template, references: References): void {
  for (const { logicalId } of template.ofType('AWS::KMS::Key'))
    references.define(logicalId, {
      ref: logicalId,
      attributes: { Arn: keyArn(logicalId), KeyId: logicalId },
    });
  for (const { logicalId } of template.ofType('AWS::SNS::Topic'))
    references.define(logicalId, { ref: topicArn(logicalId) });
  for (const { logicalId } of template.ofType('AWS::ApiGateway::DomainName'))
    references.define(logicalId, {
      ref: logicalId,
      attributes: { RegionalDomainName: 'localhost', RegionalHostedZoneId: 'local' },
    });
}
