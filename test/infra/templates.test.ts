import { expect, it } from 'vitest';
import { BARE, EVERYTHING, OTHER_ISSUER, SETTINGS } from './contexts.ts';
import { synthesize } from './synthesize.ts';
import { describeDifference, describeTemplate, showTemplate } from './template-text.ts';

/*
 * The templates as they were last reviewed: `npx vitest run --config test/vitest.config.ts --project infra
 * test/infra/templates -u` writes what has changed, for the next review.
 */

const inProduction = showTemplate(synthesize(), 'prod');

it('production has the template that was reviewed', async () => {
  await expect(describeTemplate(inProduction)).toMatchFileSnapshot('templates/prod.txt');
});

it.each<[name: string, context: Record<string, unknown>]>([
  ['staging', { stage: 'staging' }],
  ['dev', { stage: 'dev' }],
  ['everything', EVERYTHING],
  ['bare', BARE],
  ['settings', SETTINGS],
  ['other-issuer', OTHER_ISSUER],
])('what %s has in place of it was reviewed', async (name, context) => {
  const shown = showTemplate(synthesize(context), String(context.stage ?? 'prod'));
  await expect(describeDifference(inProduction, shown)).toMatchFileSnapshot(`templates/${name}.txt`);
});
