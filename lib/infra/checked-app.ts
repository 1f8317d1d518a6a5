import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { CDK_APP_MODE_CONTEXT, DISABLE_ASSET_STAGING_CONTEXT } from 'aws-cdk-lib/cx-api';
import { AwsSolutionsChecks } from 'cdk-nag';

const CDK_JSON = join(import.meta.dirname, '../../cdk.json');

interface CheckedAppOptions {
  outdir: string;
  findings: 'printed' | 'thrown';
  isValidated?: boolean;
  isStaged?: boolean;
}

/**
 * An app whose synthesis fails on findings of cdk-nag or CloudFormation's rules that are not acknowledged. It
 * sets the feature flags of cdk.json and synthesizes only by `synth()`.
 * @param findings printed, with exit code 1 for the process, or thrown
 * @param isValidated false skips cdk-nag, and the metadata and stack traces of constructs, for a local run
 * @param isStaged false leaves assets in place, and the assembly refers to them there
 */
export function checkedApp({
  outdir,
  findings,
  isValidated = true,
  isStaged = true,
}: CheckedAppOptions): App {
  // Only the CDK command reads them itself, and an upgrade of the CDK must not change deployed stacks.
  const { context: flags }: { context: Record<string, unknown> } = JSON.parse(readFileSync(CDK_JSON, 'utf8'));
  const app = new App({
    outdir,
    analyticsReporting: false,
    autoSynth: false,
    treeMetadata: isValidated,
    stackTraces: isValidated,
    context: {
      ...flags,
      '@aws-cdk/core:validateAgainstDefaultRules': true,
      ...(!isStaged && { [DISABLE_ASSET_STAGING_CONTEXT]: true }),
      [CDK_APP_MODE_CONTEXT]: findings === 'printed' ? 'process' : 'inmemory',
    },
  });
  if (isValidated) Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return app;
}
