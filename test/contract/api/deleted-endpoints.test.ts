import { expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { buildAddition } from '../../../functions/aws/transaction.ts';
import { ledgerStore } from '../../../functions/delivery/ledger.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { LIVE_GENERATION } from '../../../functions/tenancy/tenant.ts';
import { aLedgerEntry, anEndpoint, anEvent } from '../../builders.ts';
import { useApi } from './owners.ts';

const { tables, commit, enrol } = useApi();

it('an outage stays in the totals of the deliveries when its endpoint is deleted', async () => {
  const { orgId, call } = await enrol(['read:webhooks']);
  const now = new Date();
  const anOwn = () => anEndpoint({ id: newId('whk', now), orgId });
  const [current, deleted] = [anOwn(), anOwn()];
  const deletedAt = now.toISOString();
  await commit(...endpointStore(tables.service).add(current));
  await commit(
    buildAddition(tables.service, {
      ...keys.deletedEndpoint(orgId, deletedAt, deleted.id),
      ...deleted,
      deletedAt,
    }),
  );
  const part = { shardId: 'shardId-0', first: '1'.repeat(24), last: '2'.repeat(24) };
  const hour = `${now.toISOString().slice(0, 13)}:00:00.000Z`;
  for (const { id: webhookId } of [current, deleted])
    await ledgerStore(tables.ledger).add(
      { ...part, shardId: `shardId-${webhookId}` },
      aLedgerEntry({ webhookId, hour, generation: LIVE_GENERATION, owed: 3, exhausted: 3 }),
    );

  const { totals, endpoints } = await call('readDeliveryStats', { query: { hours: '2' } });

  expect(totals).toMatchObject({ owed: 6, exhausted: 6 });
  expect(endpoints).toEqual([
    expect.objectContaining({ webhookId: current.id, totals: expect.objectContaining({ exhausted: 3 }) }),
  ]);
});

it('an event can be read while one of its endpoints is being deleted', async () => {
  const { orgId, tenant, call } = await enrol(['read:webhooks']);
  const now = new Date();
  const endpoint = anEndpoint({ orgId });
  const event = anEvent({ tenant, now });
  const { service, outbox } = tables;
  const deletedAt = new Date(now.getTime() + 1).toISOString();
  await commit(
    outboxStore(outbox).append(event),
    ...endpointStore(service).add(endpoint),
    // As a request reads it whose two reads have the deletion between them.
    buildAddition(service, {
      ...keys.deletedEndpoint(orgId, deletedAt, endpoint.id),
      ...endpoint,
      deletedAt,
    }),
  );

  const read = await call('readEvent', { params: { id: event.id } });

  expect(read).toMatchObject({ id: event.id, payload: event.body, deliveries: [] });
});
