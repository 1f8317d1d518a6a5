import { randomUUID } from 'node:crypto';
import { until } from 'aws-local/test/until.ts';
import type { Service } from '../../../../support/service.ts';

/**
 * Workers that are not invoked by events of the load, but by a schedule or after failures that do not occur
 * here.
 */
const SCHEDULED = [
  'reconcile',
  'audit-ledger',
  'purge',
  'schedule-source-checks',
  'resume-redelivery-jobs',
] as const;

/**
 * Invokes these workers; those for dead letters with every item of these organizations, as if each message
 * had failed.
 */
export async function invokeAll(service: Service, organizations: readonly string[]): Promise<void> {
  const { rows, deliveries } = await until('a delivery of each of them', async () => {
    const all = (await service.rows()).filter(({ item }) => organizations.includes(String(item.orgId)));
    const deliveries = all.filter(({ item }) => String(item.sk).startsWith('dlv_'));
    const owners = new Set(deliveries.map(({ item }) => item.orgId));
    return owners.size === organizations.length && { rows: all, deliveries: deliveries };
  });
  const deliveryMessages = deliveries.map(({ item: { sk: id, webhookId, eventId, orgId, generation } }) => ({
    id,
    webhookId,
    eventId,
    orgId,
    generation,
  }));
  const events = rows
    .map(({ item: { pk, sk } }) => ({ pk, sk }))
    .filter(({ sk }) => String(sk).startsWith('evt_'));
  await service.invoke('dead-delivery-messages', letters(deliveryMessages));
  for (const name of ['dead-fan-outs', 'dead-publications'] as const)
    await service.invoke(name, letters([{ kind: 'entries', keys: events }]));
  for (const name of SCHEDULED) await service.invoke(name);
}

const letters = (bodies: readonly unknown[]) => ({
  Records: bodies.map((body) => ({ messageId: randomUUID(), body: JSON.stringify(body) })),
});
