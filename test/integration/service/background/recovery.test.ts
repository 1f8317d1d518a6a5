import { until } from 'aws-local/test/until.ts';
import { expect, it } from 'vitest';
import { DeliveryId } from '../../../../functions/aws/ids.ts';
import { keys } from '../../../../functions/tenancy/keys.ts';
import type { Row } from '../../../support/tables.ts';
import { aPlace } from '../place.ts';
import { POLL_MS } from '../receivers.ts';

/* Recovery from lost work: the test writes a row as a killed worker leaves it. */
const place = aPlace('withoutWaits');

it('a delivery that is due without a message is sent by the reconciler', async () => {
  const { api, receiver } = await place.tenant();
  /** Waits for the row of a delivery that succeeded. */
  const succeeded = (text: string): Promise<Row> =>
    until(
      `a delivery of ${text} to succeed`,
      async () =>
        (await place.service().rows([text], 'Deliveries')).find(({ item }) => item.status === 'succeeded'),
      60_000,
      POLL_MS,
    );
  const { id: endpoint } = await api.register(receiver, ['conversation.created']);
  await api.createConversation();
  const { table, item } = await succeeded(endpoint);
  const { terminalAt, ...open } = item;
  const id = DeliveryId.parse(item.sk);
  const dueAt = new Date(Date.now() - 1000).toISOString();
  await place.service().rewrite({
    table,
    item: {
      ...open,
      status: 'retrying',
      parked: true,
      nextRetryAt: dueAt,
      dueIn: keys.dueOf('parked', id),
      dueKey: keys.dueKey(String(item.orgId), dueAt),
    },
  });
  await place.service().invoke('reconcile');
  expect((await succeeded(id)).item.attempts).toBe(2);
});
