import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import type { Tenant } from '../domain/tenant.ts';
import { keys, markOf } from './keys.ts';
import { type Table, updated } from './table.ts';

/** One of the checks that a tenant may run at once. */
export interface CheckSlot {
  tenant: Tenant;
  name: string;
  token: string;
}

/** `until` in milliseconds since the epoch. */
const Taken = z.object({ token: z.string(), until: z.number() });

/**
 * The share of a tenant in the checks that run at once: so many slots, each of which is held under a lease. A
 * slot whose worker was lost is free when its lease has ended.
 */
export function checkSlots(knowledge: Table, share: number) {
  const names = Array.from({ length: share }, (_, index) => `slot${index}`);
  const anyOf = (some: readonly string[]): string | undefined =>
    some[Math.floor(Math.random() * some.length)];

  return {
    /** @returns undefined when all slots are held, or others were faster at each that was free */
    async take(
      tenant: Tenant,
      { now, leaseSeconds }: { now: Date; leaseSeconds: number },
    ): Promise<CheckSlot | undefined> {
      const token = randomUUID();
      const lease = { token, until: now.getTime() + leaseSeconds * 1000 };
      const marks = markOf(tenant);
      const sets = ['#slot = :lease', ...Object.keys(marks).map((name) => `${name} = :${name}`)];
      let name = anyOf(names);
      for (let tries = 1; name !== undefined && tries <= share; tries += 1) {
        try {
          await knowledge.client.send(
            new UpdateCommand({
              TableName: knowledge.name,
              Key: keys.checkSlots(tenant),
              UpdateExpression: `SET ${sets.join(', ')}`,
              ConditionExpression: 'attribute_not_exists(#slot) OR #slot.#until <= :now',
              ExpressionAttributeNames: { '#slot': name, '#until': 'until' },
              ExpressionAttributeValues: {
                ':lease': lease,
                ':now': now.getTime(),
                ...Object.fromEntries(Object.entries(marks).map(([mark, value]) => [`:${mark}`, value])),
              },
              ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
            }),
          );
          return { tenant, name, token };
        } catch (error) {
          if (!(error instanceof ConditionalCheckFailedException)) throw error;
          const row = unmarshall(error.Item ?? {});
          const takenBy = (slot: string) => Taken.safeParse(row[slot]).data;
          // The SDK repeats a request whose answer it lost, so the condition may have met this very lease.
          if (takenBy(name)?.token === token) return { tenant, name, token };
          name = anyOf(names.filter((slot) => (takenBy(slot)?.until ?? 0) <= now.getTime()));
        }
      }
      return undefined;
    },

    /** Does nothing when the lease has ended and another check holds the slot. */
    async release({ tenant, name, token }: CheckSlot): Promise<void> {
      await updated(knowledge, {
        Key: keys.checkSlots(tenant),
        UpdateExpression: 'REMOVE #slot',
        ConditionExpression: '#slot.#token = :token',
        ExpressionAttributeNames: { '#slot': name, '#token': 'token' },
        ExpressionAttributeValues: { ':token': token },
      });
    },
  };
}
