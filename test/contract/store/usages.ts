import type { OrgId } from '../../../functions/aws/ids.ts';
import type { Table } from '../../../functions/aws/table.ts';
import { type MeteredEvent, usageMeter, usageReader } from '../../../functions/events/usage.ts';
import type { Permit } from '../../../functions/tenancy/gate.ts';
import { aBusEvent, aTenant } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { aPermit } from '../../unit/delivery/outbound/permit.ts';

/** The meter and the reader of usage. */
const usagesOf = (usage: Table) => ({ ...usageMeter(usage), read: usageReader(usage) });
type Usages = ReturnType<typeof usagesOf>;

/** The same over a table that is new each time. */
export const newUsages =
  (engine = dynamoDb()) =>
  async (): Promise<Usages> =>
    usagesOf((await engine.tables()).usage);

/** A live organization, and the gate's permit for it. */
export async function aCustomer() {
  const { orgId } = aTenant();
  return { orgId, permit: await aPermit(orgId) };
}

export const aMeteredEvent = (changes: Partial<MeteredEvent> = {}): MeteredEvent => {
  const { id, createdAt } = aBusEvent();
  return { id, type: 'message.received', createdAt, ...changes };
};

/** The usage of an organization in all months. */
export const allOf = async (usages: Pick<Usages, 'read'>, orgId: OrgId) =>
  Object.fromEntries(await usages.read(orgId, { from: '0000-01', to: '9999-12' }));

/**
 * Counts events as the queue does: all of them first, then those that failed or were left.
 * @returns the events that are left in the end
 */
export async function countUntilDone(
  usages: Pick<Usages, 'count'>,
  events: readonly MeteredEvent[],
  permit: Permit,
): Promise<MeteredEvent[]> {
  let left = [...events];
  for (let receive = 1; left.length > 0 && receive <= 20; receive += 1)
    left = await usages.count(left, permit).catch(() => left);
  return left;
}
