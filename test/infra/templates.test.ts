import { expect, it } from 'vitest';
import { listStages } from '../../lib/infra/context.ts';
import { EVERYTHING, OTHER_ISSUER, SETTINGS, type TestContext } from './contexts.ts';
import { synthesize, synthesizeStage } from './synthesize.ts';
import { describeDifference, describeTemplate, showTemplate } from './template-text.ts';

/*
 * The templates as they were last reviewed: `npx vitest run --config test/vitest.config.ts --project infra
 * test/infra/templates -u` writes what has changed, for the next review.
 */

const inProduction = showTemplate(synthesize(), 'prod');

it('production with a mailer has the template that was reviewed', async () => {
  await expect(describeTemplate(inProduction)).toMatchFileSnapshot('templates/prod.txt');
});

it.each<[string, context: TestContext]>([
  ['everything', EVERYTHING],
  ['settings', SETTINGS],
  ['other-issuer', OTHER_ISSUER],
])('what %s has in place of it was reviewed', async (name, context) => {
  const shown = showTemplate(synthesize(context), 'prod');
  await expect(describeDifference(inProduction, shown)).toMatchFileSnapshot(`templates/${name}.txt`);
});

it.each(listStages())('what stage %s has in place of it was reviewed', async (stage) => {
  const shown = showTemplate(await synthesizeStage(stage), stage);
  await expect(describeDifference(inProduction, shown)).toMatchFileSnapshot(`templates/stages/${stage}.txt`);
});
