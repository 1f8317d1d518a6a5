import { until } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import { buildDigestMailKey } from '../../../../functions/domain/mailing.ts';
import { startReceiver } from '../../../../packages/cli/src/receiver/receiver.ts';
import { casesOf } from '../../../support/cases.ts';
import type { ReceivedMail } from '../../../support/mails.ts';
import { aTenant, type Tenant } from '../../../support/tenant.ts';
import type { Place } from '../place.ts';
import { aDisabledEndpoint } from './disabling-mail.ts';
import { type Page, pageOf, paragraph, startPage } from './page.ts';

const SOURCES = casesOf(12, 60);
/** A generous limit, not a measure of speed: many pages are fetched and parsed twice beside other tests. */
const TIME_MS = 300_000;
const QUEUES = ['Bus/CheckSource/Queue', 'Bus/Notify/Queue', 'Bus/NotifyDisabled/Queue'];

/**
 * Many sources of one organization that change on the same day.
 * @param budget e-mails about changed content that the service allows a day
 */
export function mailBudget({ service, keep, log }: Place, budget: number): void {
  let tenant: Tenant;
  const mails = async (isOne: (mail: ReceivedMail) => boolean) =>
    (await service().mails()).filter(
      (mail) => mail.to.some((address) => address.includes(tenant.orgId)) && isOne(mail),
    );
  const notices = () => mails(({ subject }) => subject.startsWith('Content changed by'));
  const digests = () => mails(({ subject }) => subject.startsWith('Content changes in more'));
  const digestRows = async () =>
    (await service().rows([tenant.orgId])).filter(({ item }) =>
      String(item.pk).includes(buildDigestMailKey('')),
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
      'make as many e-mails as the budget allows and one digest, and do not block e-mails about disabled endpoints',
      async () => {
        tenant = keep(await aTenant(service()));
        const page = await startPage(service().tls, pageOf(paragraph('first'), paragraph('second')));
        keep({ close: () => page.stop() });
        const failing = await startReceiver({ ...service().tls, respond: () => ({ status: 500 }) });
        keep({ close: failing.stop });
        await changeAll(page);

        const id = await aDisabledEndpoint(service(), tenant, failing.url);
        await until(
          'the e-mail about the endpoint',
          async () =>
            (await mails(({ subject, text }) => subject.includes('disabled') && text.includes(id))).length ===
            1,
        );
        const [row] = await until('all other changes to be in the digest', async () => {
          const rows = await digestRows();
          return rows.length === 1 && rows[0]?.item.changes === SOURCES - budget && rows;
        });
        expect(await notices()).toHaveLength(budget);
        expect(await digests()).toEqual([]);

        // Makes the digest due.
        if (row === undefined) throw new Error('there is no digest');
        await service().rewrite({ ...row, item: { ...row.item, dueAt: '2026-01-01T00:00:00.000Z' } });
        await service().invoke('schedule-source-checks');
        const [digest] = await until('the digest', async () => {
          const sent = await digests();
          return sent.length > 0 && sent;
        });
        expect(digest?.to).toEqual([`admin@${tenant.orgId}.test`]);
        expect(digest?.text).toContain(`${SOURCES - budget} further changes`);
        expect(digest?.text).toContain(`${page.url}?source=`);
        await until('the digest to be due no more', async () =>
          (await digestRows()).every(({ item }) => item.dueIn === undefined),
        );
        await service().invoke('schedule-source-checks');
        await until('the queues to be empty', () => QUEUES.every((queue) => service().queued(queue) === 0));
        expect(await digests()).toHaveLength(1);
        expect(await notices()).toHaveLength(budget);
        expect(
          log().filter(
            ({ text }) => text.includes('"level":"ERROR"') && /"type":"source.(changed|digest)"/.test(text),
          ),
        ).toEqual([]);
      },
      TIME_MS,
    );
  });
}
