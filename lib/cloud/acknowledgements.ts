import { Validations } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

/** Tells cdk-nag why a finding does not apply to a construct and what is below it. One id, one reason. */
export function acknowledge(construct: Construct, findings: Record<string, string>): void {
  for (const [id, reason] of Object.entries(findings))
    Validations.of(construct).acknowledge({ id: `AwsSolutions-${id}`, reason });
}
