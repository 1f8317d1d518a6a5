import { until } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import { aTenant, type Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';
import { letADayPass } from './let-a-day-pass.ts';
import { type Page, pageOf, paragraph, startPage } from './page.ts';
import { untilDrained } from './until-drained.ts';

const SOURCES = '/api/v1/knowledge/sources';

/* E-mails about content that changes again after one. */
const place = aPlace('withoutWaits');
const mailsOf = async ({ orgId }: Tenant) =>
  (await place.service().mails()).filter(({ to }) => to.some((address) => address.includes(orgId)));
const waitForMails = (tenant: Tenant, count: number) =>
  until(`${count} e-mails`, async () => {
    const mails = await mailsOf(tenant);
    return mails.length >= count && mails;
  });

async function aSourceOf({ api }: Tenant, page: Page) {
  const { body } = await api.post(SOURCES, { kind: 'url', url: page.url });
  const path = `${SOURCES}/${body.data?.id}`;
  const read = async () => (await api.get(path)).body.data;
  await until('the import', async () => (await read())?.version === 1);
  return {
    id: String(body.data?.id),
    /** Checks the page and waits for the end of the check. */
    async sync() {
      const before = await read();
      expect((await api.post(`${path}/sync`)).status).toBe(202);
      return until('the check', async () => {
        const shown = await read();
        return shown?.lastCheckedAt !== before?.lastCheckedAt && shown;
      });
    },
  };
}

async function aPage() {
  const page = await startPage(place.service().tls, pageOf(paragraph('first'), paragraph('second')));
  place.keep({ close: () => page.stop() });
  return page;
}

/** In the day after an e-mail there is no other one about the same URL. */
async function dayPasses({ orgId }: Tenant) {
  await untilDrained(place.service(), 'Bus/Notify/Queue', orgId);
  await letADayPass(place.service(), orgId);
}

describe('content that changed again within a day of an e-mail', () => {
  it('is announced by the first check after it, also of two sources with one URL', async () => {
    const tenant = place.keep(await aTenant(place.service()));
    const page = await aPage();
    const sources = [await aSourceOf(tenant, page), await aSourceOf(tenant, page)];
    page.set(pageOf(paragraph('third'), paragraph('fourth')));
    for (const { sync } of sources) await sync();
    const [first] = await waitForMails(tenant, 1);
    expect(first?.text).toContain('third0');
    page.set(pageOf(paragraph('fifth'), paragraph('sixth')));
    for (const { sync } of sources) await sync();

    for (let count = 2; count <= 3; count += 1) {
      await dayPasses(tenant);
      for (const { sync } of sources) await sync();
      const mails = await waitForMails(tenant, count);
      expect(mails).toHaveLength(count);
      expect(mails.at(-1)?.text).toContain('fifth0');
    }
    await dayPasses(tenant);
    for (const { sync } of sources) expect(await sync()).toMatchObject({ difference: 0 });
    expect(await mailsOf(tenant)).toHaveLength(3);
  });
});

describe('an organization with many admins', () => {
  it('gets its e-mail at all of them', async () => {
    const tenant = place.keep(await aTenant(place.service()));
    const count = 250;
    // Beside the one that every organization of the tests has.
    await place.service().addAdmins(tenant.orgId, count - 1);
    const page = await aPage();
    const { sync } = await aSourceOf(tenant, page);
    const recipients = async () => (await mailsOf(tenant)).flatMap(({ to }) => to);
    page.set(pageOf(paragraph('third'), paragraph('fourth')));
    await sync();
    await until('all admins to have it', async () => (await recipients()).length === count);
    expect(new Set(await recipients()).size).toBe(count);
  });
});
