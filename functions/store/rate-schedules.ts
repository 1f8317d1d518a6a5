import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { RateSchedule, type ScheduleUpdate } from '../domain/endpoint-rate.ts';
import type { ReceiverId } from '../domain/ids.ts';
import { keys } from './keys.ts';
import { type Table, toExpiry } from './table.ts';

/** Longer than a delivery stays open. */
const KEPT_DAYS = 4;

const NAMES = { '#rate': 'rate', '#next': 'next', '#queued': 'queued', '#parked': 'parked' };

function buildUpdate({ rate, restarts, when, set, add }: ScheduleUpdate, now: Date) {
  const values: Record<string, number> = { ':rate': rate, ':expiry': toExpiry(now, KEPT_DAYS) };
  const bind = (name: string, value: number): string => {
    values[name] = value;
    return name;
  };
  const conditions = [restarts ? '(attribute_not_exists(#rate) OR #rate <> :rate)' : '#rate = :rate'];
  for (const [name, { over, upTo }] of Object.entries(when)) {
    if (over !== undefined) conditions.push(`#${name} > ${bind(`:${name}Over`, over)}`);
    if (upTo !== undefined)
      conditions.push(`(attribute_not_exists(#${name}) OR #${name} <= ${bind(`:${name}UpTo`, upTo)})`);
  }
  const sets = [
    'expiresAt = :expiry',
    '#rate = :rate',
    ...Object.entries(set).map(([name, value]) => `#${name} = ${bind(`:${name}`, value)}`),
    ...Object.entries(add).map(([name, value]) => `#${name} = #${name} + ${bind(`:${name}`, value)}`),
  ];
  const UpdateExpression = `SET ${sets.join(', ')}`;
  const ConditionExpression = conditions.join(' AND ');
  const used = Object.entries(NAMES).filter(([name]) =>
    `${UpdateExpression} ${ConditionExpression}`.includes(name),
  );
  return {
    UpdateExpression,
    ConditionExpression,
    ExpressionAttributeNames: Object.fromEntries(used),
    ExpressionAttributeValues: values,
  };
}

/** Schedules of endpoints with a limit, apart from the endpoints: their items take a write for each batch. */
export function rateScheduleStore(rates: Table) {
  return {
    /**
     * Applies an update in one conditional write.
     * @returns whether its conditions held, and the schedule after it; undefined when there is none
     */
    async apply(
      id: ReceiverId,
      update: ScheduleUpdate,
      now: Date,
    ): Promise<{ applied: boolean; schedule: RateSchedule | undefined }> {
      try {
        const { Attributes } = await rates.client.send(
          new UpdateCommand({
            TableName: rates.name,
            Key: keys.rateSchedule(id),
            ...buildUpdate(update, now),
            ReturnValues: 'ALL_NEW',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        return { applied: true, schedule: RateSchedule.parse(Attributes) };
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        const schedule = error.Item && RateSchedule.parse(unmarshall(error.Item));
        return { applied: false, schedule };
      }
    },
  };
}
