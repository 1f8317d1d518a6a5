import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleFunctions } from '../lib/cloud/bundle.ts';

/*
 * The CDK app. It runs under the CDK command (`npx cdk synth`) and by itself (`node bin/app.ts`), with the same result: the recommended
 * feature flags are set here and not in cdk.json, which only the command reads.
 */
const outdir = process.env.CDK_OUTDIR ?? 'cdk.out';
// The bundler is a process of its own: it works while this one loads the CDK, which takes as long.
const bundling = bundleFunctions(join(outdir, 'functions'));
// Met below, where it is waited for; until then an early failure is not an unhandled one.
bundling.catch(() => undefined);

const { App, Validations } = await import('aws-cdk-lib');
const lambda = await import('aws-cdk-lib/aws-lambda');
const { AwsSolutionsChecks } = await import('cdk-nag');
const { readSettings, SettingError } = await import('../lib/cloud/settings.ts');
const { conversationService } = await import('../lib/cloud/service.ts');

const flags: Record<string, unknown> = JSON.parse(
  readFileSync(
    join(import.meta.dirname, '../node_modules/aws-cdk-lib/recommended-feature-flags.json'),
    'utf8',
  ),
);

const app = new App({
  outdir,
  analyticsReporting: false,
  // The app synthesizes itself below, and nothing at all when a setting is wrong.
  autoSynth: false,
  context: { ...flags, '@aws-cdk/core:validateAgainstDefaultRules': true },
});
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));

try {
  const settings = readSettings(app.node);
  const directoryOf = await bundling;
  conversationService(app, { settings, code: (name) => lambda.Code.fromAsset(directoryOf(name)) });
  app.synth();
} catch (error) {
  if (!(error instanceof SettingError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
