import { until } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import { FAILURES_TO_DISABLE, FAILURES_TO_WARN } from '../../../../functions/receivers/endpoint.ts';
import { startReceiver } from '../../../../packages/cli/src/receiver/receiver.ts';
import { aSandbox, aTenant, type Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';
import { storeFailures } from '../stored-failures.ts';
import { untilDrained } from './until-drained.ts';

/** Deliveries that fail at the same time, of which one reaches the limit. */
const AT_ONCE = 3;

/*
 * From failed deliveries to the e-mails (docs/specification.md, Webhook endpoint status), with retries that
 * take seconds instead of an hour.
 */
const { service, keep } = aPlace();
const readMails = async ({ orgId }: Pick<Tenant, 'orgId'>) =>
  (await service().mails()).filter(({ to }) => to.some((address) => address.includes(orgId)));

describe.concurrent('an endpoint that fails until it is disabled', () => {
  it('makes a warning and one more e-mail to the admins of its organization, and none in a sandbox', async () => {
    const failing = await startReceiver({ ...service().tls, respond: () => ({ status: 500 }) });
    keep({ close: failing.stop });
    const live = keep(await aTenant(service()));
    await service().session(live.orgId, 'member');
    const other = keep(await aTenant(service()));
    const sandbox = keep(await aSandbox(service(), other));
    const simulated = await sandbox.api.register('https://hooks.example.com/?simulate=500', [
      'ticket.created',
    ]);
    await storeFailures(service(), simulated.id, FAILURES_TO_DISABLE - 1);
    await sandbox.api.post(`/api/v1/webhooks/${simulated.id}/test`);
    await until('the endpoint of the sandbox to be disabled', async () => {
      const { body } = await sandbox.api.get(`/api/v1/webhooks/${simulated.id}`);
      return body.data?.status === 'auto_disabled';
    });
    const url = `${failing.url}/hooks?key=hidden`;

    const { id } = await live.api.register(url, ['ticket.created']);
    const fail = (times: number) =>
      Promise.all(Array.from({ length: times }, () => live.api.post(`/api/v1/webhooks/${id}/test`)));
    const untilMails = (count: number) =>
      until(`e-mail ${count}`, async () => {
        const sent = await readMails(live);
        return sent.length >= count && sent;
      });
    await storeFailures(service(), id, FAILURES_TO_WARN - AT_ONCE);
    await fail(AT_ONCE);
    const [warning] = await untilMails(1);
    await storeFailures(service(), id, FAILURES_TO_DISABLE - AT_ONCE);
    await fail(AT_ONCE);
    const mails = await untilMails(2);

    expect(warning?.subject).toMatch(/^Webhook endpoint failing \(5 of 10\): /);
    expect(mails.map(({ subject }) => subject.split(':')[0])).toContain('Webhook endpoint disabled');
    for (const { to, subject, text, html } of mails) {
      expect(to).toEqual([`admin@${live.orgId}.test`]);
      expect(subject).toContain(`: ${failing.url}/hooks (the receiver answered 500)`);
      for (const body of [text, html]) {
        expect(body).toContain(id);
        expect(body).toContain(`${failing.url}/hooks`);
        expect(body).toContain('the receiver answered 500');
        expect(body).toContain(`/endpoints/${id}/recover`);
        expect(body).not.toContain('hidden');
      }
    }
    await untilDrained(service(), 'Bus/NotifyDisabled/Queue', live.orgId);
    expect(await readMails(live)).toHaveLength(2);
    expect(await readMails(other)).toEqual([]);
    expect(await readMails(sandbox)).toEqual([]);
    const dead = service().bodies('Bus/NotifyDisabled/DeadLetters');
    expect(dead.filter((body) => body.includes(live.orgId))).toEqual([]);
  });
});
