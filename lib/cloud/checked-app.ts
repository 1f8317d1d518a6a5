import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { CDK_APP_MODE_CONTEXT } from 'aws-cdk-lib/cx-api';
import { AwsSolutionsChecks } from 'cdk-nag';

const FLAGS = join(import.meta.dirname, '../../node_modules/aws-cdk-lib/recommended-feature-flags.json');

/**
 * An app whose synthesis fails when cdk-nag or CloudFormation's own rules find something that is not acknowledged. It has the recommended
 * feature flags, and nothing is synthesized but by `synth()`.
 * @param findings printed, with exit code 1 for the process, or thrown
 */
export function checkedApp({ outdir, findings }: { outdir: string; findings: 'printed' | 'thrown' }): App {
  const flags: Record<string, unknown> = JSON.parse(readFileSync(FLAGS, 'utf8'));
  const app = new App({
    outdir,
    analyticsReporting: false,
    autoSynth: false,
    context: {
      ...flags,
      '@aws-cdk/core:validateAgainstDefaultRules': true,
      [CDK_APP_MODE_CONTEXT]: findings === 'printed' ? 'process' : 'inmemory',
    },
  });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return app;
}
