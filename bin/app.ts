import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { AwsSolutionsChecks } from 'cdk-nag';
import { bundleFunctions } from '../lib/cloud/bundle.ts';
import { readSettings, SettingError } from '../lib/cloud/settings.ts';
import { ConversationServiceStack } from '../lib/cloud/stack.ts';

/*
 * The CDK app. It runs under the CDK command (`npx cdk synth`) and by itself (`node bin/app.ts`), with the same result: the recommended
 * feature flags are set here and not in cdk.json, which only the command reads.
 */
const flags: Record<string, unknown> = JSON.parse(
  readFileSync(
    join(import.meta.dirname, '../node_modules/aws-cdk-lib/recommended-feature-flags.json'),
    'utf8',
  ),
);

const app = new App({
  analyticsReporting: false,
  // The app synthesizes itself below, and nothing at all when a setting is wrong.
  autoSynth: false,
  context: { ...flags, '@aws-cdk/core:validateAgainstDefaultRules': true },
});
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));

try {
  const settings = readSettings(app.node);
  const directoryOf = bundleFunctions(join(app.outdir, 'functions'));
  new ConversationServiceStack(app, 'ConversationService', {
    description: 'Conversation Service API: public API, webhook engine',
    settings,
    code: (name) => lambda.Code.fromAsset(directoryOf(name)),
  });
  app.synth();
} catch (error) {
  if (!(error instanceof SettingError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
