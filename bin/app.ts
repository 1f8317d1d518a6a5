import { join, resolve } from 'node:path';
import { bundleFunctions, bundlesIn } from '../lib/infra/bundle.ts';
import { readStages, SettingError } from '../lib/infra/context.ts';
import { readSettings, type Settings } from '../lib/infra/settings.ts';
import { bundleDashboard, DASHBOARD_BUNDLE } from '../lib/infra/site/bundle.ts';

/*
 * The CDK app. It sets the feature flags of cdk.json itself: `npx cdk synth` and `node bin/app.ts` have the
 * same result.
 */
const outdir = resolve(process.env.CDK_OUTDIR ?? 'cdk.out');
// Tests that often synthesize the same sources bundle once: bundling takes as long as all the rest.
const bundles = process.env.CDK_BUNDLES;
/** A variable of the CDK. */
const isValidated = process.env.CDK_VALIDATION !== 'false';

async function synthesize(stages: readonly Settings[]): Promise<void> {
  // The bundlers run in parallel while this process loads the CDK, which takes as long.
  const bundling = bundles === undefined ? bundleFunctions(join(outdir, 'functions')) : bundlesIn(bundles);
  const building =
    bundles === undefined
      ? bundleDashboard(join(outdir, DASHBOARD_BUNDLE))
      : Promise.resolve(join(bundles, DASHBOARD_BUNDLE));
  // Awaited below; until then an early failure is not an unhandled rejection.
  bundling.catch(() => undefined);
  building.catch(() => undefined);

  const { checkedApp } = await import('../lib/infra/checked-app.ts');
  const lambda = await import('aws-cdk-lib/aws-lambda');
  const { conversationService } = await import('../lib/infra/service.ts');

  const app = checkedApp({ outdir, findings: 'printed', isValidated, isStaged: bundles === undefined });
  const [directoryOf, dashboard] = await Promise.all([bundling, building]);
  for (const settings of stages)
    conversationService(app, {
      settings,
      code: (name) => lambda.Code.fromAsset(directoryOf(name)),
      dashboard,
    });
  app.synth();
}

try {
  // Check settings first: a wrong one fails before anything is built or loaded.
  const stages = await readStages(process.env);
  await synthesize(stages.map(({ name, content }) => readSettings(name, content)));
} catch (error) {
  if (!(error instanceof SettingError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
