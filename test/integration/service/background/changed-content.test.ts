import { until } from 'aws-local/test/until.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ReceivedMail } from '../../../support/mails.ts';
import { aTenant, type Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';
import { type Page, pageOf, paragraph, startPage } from './page.ts';
import { untilDrained } from './until-drained.ts';

const QUEUE = 'Bus/Notify/Queue';

/* From a changed page to the e-mail (docs/specification.md, Content-change notifications). */
const place = aPlace();
let tenant: Tenant;
let page: Page;
let source: string;

beforeAll(async () => {
  const service = place.service();
  tenant = place.keep(await aTenant(service));
  // A member, and an admin of another organization: neither gets the e-mails.
  await service.session(tenant.orgId, 'member');
  place.keep(await aTenant(service));
  page = await startPage(service.tls, pageOf(paragraph('first'), paragraph('second'), paragraph('third')));
  place.keep({ close: () => page.stop() });
  const { status, body } = await tenant.api.post('/api/v1/knowledge/sources', {
    kind: 'url',
    url: page.url,
  });
  expect(status).toBe(201);
  source = `/api/v1/knowledge/sources/${body.data?.id}`;
});

const read = async (): Promise<Record<string, unknown>> => (await tenant.api.get(source)).body.data ?? {};
const changes = async () => Object((await tenant.api.get(`${source}/changes`)).body.data);
const at = (what: string, is: (shown: Record<string, unknown>) => boolean) =>
  until(what, async () => {
    const shown = await read();
    return is(shown) && shown;
  });
const mails = async (): Promise<ReceivedMail[]> =>
  (await place.service().mails()).filter(({ to }) => to.some((address) => address.includes(tenant.orgId)));

/** Requests a check of the page and waits until it has ended. */
async function sync(): Promise<Record<string, unknown>> {
  const before = await read();
  expect((await tenant.api.post(`${source}/sync`)).status).toBe(202);
  return at('the check to end', ({ lastCheckedAt }) => lastCheckedAt !== before.lastCheckedAt);
}

/**
 * A check puts its notice on the bus or in the outbox before it ends, so an empty queue means that the
 * mailer has processed it.
 */
async function untilProcessed(event: string): Promise<void> {
  await until(`${event} to be logged`, () => place.log().some(({ text }) => text.includes(event)));
  await untilDrained(place.service(), QUEUE, tenant.orgId);
}

/** Moves the time of the last e-mails, and what follows from it, back by a day and a second. */
async function letADayPass(): Promise<void> {
  const service = place.service();
  const before = (time: unknown) => new Date(Date.parse(String(time)) - 86_401_000).toISOString();
  for (const { table, item } of await service.rows([tenant.orgId])) {
    if (String(item.pk).startsWith(`${tenant.orgId}#mail#source#`))
      await service.rewrite({ table, item: { ...item, sentAt: before(item.sentAt) } });
    if (item.announceAt !== undefined)
      await service.rewrite({ table, item: { ...item, announceAt: before(item.announceAt) } });
  }
}

describe('a page', () => {
  it('is imported when its source is created, by its main text', async () => {
    expect(await at('the import', ({ version }) => version === 1)).toMatchObject({
      status: 'ok',
      title: 'Handbook',
      difference: 0,
      lastError: null,
    });
    expect(page.requests).toHaveLength(1);
    const [request] = page.requests;
    expect(request?.method).toBe('GET');
    expect(request?.headers['user-agent']).toMatch(
      /^ConversationService-Knowledge\/1\.0 \(\+http\S+\/api\/docs\)$/,
    );
  });

  it('that has not changed is requested conditionally and answered with 304', async () => {
    expect(await sync()).toMatchObject({ version: 1, status: 'ok' });
    expect(page.notModified()).toBe(1);
  });

  it('that changed by less than the threshold is imported without an e-mail', async () => {
    page.set(
      pageOf(paragraph('first'), paragraph('second'), `${paragraph('third', 55)} some other words here now`),
    );
    expect(await sync()).toMatchObject({
      version: 2,
      difference: expect.toSatisfy((it: number) => it > 0 && it < 20),
    });
    expect(await mails()).toEqual([]);
  });

  it('that changed by more makes one e-mail to the admins with the changed text', async () => {
    page.set(pageOf(paragraph('first'), paragraph('fresh'), paragraph('third')));
    await sync();
    const [mail, ...others] = await until('the e-mail', async () => {
      const sent = await mails();
      return sent.length > 0 && sent;
    });
    expect(others).toEqual([]);
    expect(mail?.to).toEqual([`admin@${tenant.orgId}.test`]);
    expect(mail?.subject).toContain('Handbook');
    expect(await at('the source to say so', ({ lastNotifiedAt }) => lastNotifiedAt !== null)).toMatchObject({
      difference: 0,
      version: 3,
    });
    const { from, to, announced } = await changes();
    expect([from, to, announced.from, announced.to].map(({ version }) => version)).toEqual([3, 3, 1, 3]);
    expect(announced.difference).toBeGreaterThan(20);
    expect(announced.added).toContain('fresh0');
    expect(announced.removed).toContain('second0');
    for (const text of [mail?.text, mail?.html]) {
      expect(text).toContain(`${Number(announced.difference.toFixed(1))}%`);
      expect(text).toContain('fresh0');
      expect(text).toContain('second0');
      expect(text).toContain(`https://dashboard.example/sources/${source.split('/').at(-1)}`);
    }
  });

  it('that changes again within 24 hours makes no e-mail', async () => {
    page.set(pageOf(paragraph('another'), paragraph('entirely'), paragraph('third')));
    expect(await sync()).toMatchObject({
      version: 4,
      difference: expect.toSatisfy((it: number) => it > 20),
    });
    await untilProcessed(`${source.split('/').at(-1)}#changed#4`);
    expect(await mails()).toHaveLength(1);
  });

  it('that changed within 24 hours makes an e-mail by the first check after them', async () => {
    await letADayPass();
    await sync();
    const [, second] = await until('the second e-mail', async () => {
      const sent = await mails();
      return sent.length > 1 && sent;
    });
    expect(second?.text).toContain('another0');
    expect(await mails()).toHaveLength(2);
    // It is written after the e-mail was sent.
    await until('the change to be announced', async () => (await changes()).announced.from.version === 3);
    expect((await changes()).announced.to).toMatchObject({ version: 4 });
  });
});
