import { keyArn, topicArn } from '../arns.ts';
import type { References } from '../template/references.ts';
import type { Template } from '../template/template.ts';

/**
 * Names what does nothing here and is named by others: encryption keys, because the state directory is as
 * private as the rest of this machine, the topics of alarms, of which there are none, and domains, because
 * the API is called by its port.
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
