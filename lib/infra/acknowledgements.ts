import { Validations } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

/** Suppresses cdk-nag findings for a construct and its children, with a reason for each id. */
export function acknowledge(construct: Construct, findings: Record<string, string>): void {
  for (const [id, reason] of Object.entries(findings))
    Validations.of(construct).acknowledge({ id: `AwsSolutions-${id}`, reason });
}
