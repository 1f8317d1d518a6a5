import { until } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import { casesOf } from '../../../support/cases.ts';
import { aTenant, type Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';
import { MAIL_BUDGET } from '../stacks/settings.ts';
import { type Page, pageOf, paragraph, startPage } from './page.ts';
import { untilDrained } from './until-drained.ts';

const SOURCES = casesOf(6, 60);
/** A generous limit, not a measure of speed: many pages are fetched and parsed twice beside other tests. */
const TIME_MS = 300_000;
const QUEUES = ['Bus/CheckSource/Queue', 'Bus/Notify/Queue'];

/* Many sources of one organization that change on the same day. */
const { service, keep, log } = aPlace();
let tenant: Tenant;
const notices = async () =>
  (await service().mails()).filter(
    ({ to, subject }) =>
      to.some((address) => address.includes(tenant.orgId)) && subject.startsWith('Content changed by'),
  );

async function changeAll(page: Page): Promise<void> {
  const ids: string[] = [];
  for (let index = 0; index < SOURCES; index += 1) {
    const url = `${page.url}?source=${index}`;
    const { status, body } = await tenant.api.post('/api/v1/knowledge/sources', { kind: 'url', url });
    expect(status).toBe(201);
    ids.push(String(body.data?.id));
  }
  const versionsAre = (version: number) =>
    until(
      `${SOURCES} sources to be at version ${version}`,
      async () => {
        const { body } = await tenant.api.get('/api/v1/knowledge/sources?limit=100');
        return (
          (body.data as unknown as { version: number }[]).filter((source) => source.version === version)
            .length === SOURCES
        );
      },
      TIME_MS / 2,
    );
  await versionsAre(1);
  page.set(pageOf(paragraph('another'), paragraph('entirely')));
  for (const id of ids) await tenant.api.post(`/api/v1/knowledge/sources/${id}/sync`);
  await versionsAre(2);
}

describe('changes of many sources', () => {
  it(
    'make as many e-mails as the budget allows',
    async () => {
      tenant = keep(await aTenant(service()));
      const page = await startPage(service().tls, pageOf(paragraph('first'), paragraph('second')));
      keep({ close: () => page.stop() });
      await changeAll(page);

      const isOverBudget = ({ text }: { text: string }) =>
        text.includes('MAIL_OVER_BUDGET') && text.includes(tenant.orgId);
      await until(
        'all other changes to be left to the dashboard',
        async () => log().filter(isOverBudget).length === SOURCES - MAIL_BUDGET,
      );
      for (const queue of QUEUES) await untilDrained(service(), queue, tenant.orgId);
      expect(await notices()).toHaveLength(MAIL_BUDGET);
      expect(
        log().filter(
          ({ text }) => text.includes('"level":"ERROR"') && text.includes('"type":"source.changed"'),
        ),
      ).toEqual([]);
    },
    TIME_MS,
  );
});
