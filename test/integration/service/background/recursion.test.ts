import { MAX_INVOCATIONS_IN_CHAIN } from 'aws-local/functions/lineage.ts';
import { until } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import type { FunctionName } from '../../../../lib/infra/grants/grant.ts';
import { aPlace } from '../place.ts';

const CASES: [name: FunctionName, queue: string, said: RegExp | undefined][] = [
  ['redeliver', 'Bus/Redeliver/Queue', /moved to \S+BusRedeliverDeadLetters/],
  ['dead-fan-outs', 'Delivery/DeadFanOuts', /the message is dropped$/],
  ['dead-publications', 'Bus/DeadPublications', undefined],
];

/** A message that names nothing to do; no other test sends one. */
const EMPTY = JSON.stringify({ kind: 'entries', keys: [] });

/*
 * Each function gets the message that it would send to itself in its 16th invocation. A redelivery job gets
 * there after 160 seconds.
 */
const place = aPlace();

describe('a function that feeds its own queue', () => {
  it.each(CASES)('%s is stopped in its loop unless its RecursiveLoop is Allow', async (name, queue, said) => {
    const service = place.service();
    const chain = `Lineage=conversation-service-dev-${name}:${MAX_INVOCATIONS_IN_CHAIN}`;
    await service.send(queue, EMPTY, `Root=1-0-0;Sampled=0;${chain}`);
    await until(`${name} to be done with it`, () => !service.bodies(queue).includes(EMPTY));
    const stopped = place
      .log()
      .filter(({ text }) => text.includes(`recursive loop: conversation-service-dev-${name} `));
    expect(stopped.map(({ text }) => text)).toEqual(said === undefined ? [] : [expect.stringMatching(said)]);
  });

  it('leaves the message of a stopped redelivery job in the dead-letter queue', () => {
    expect(place.service().bodies('Bus/Redeliver/DeadLetters')).toContain(EMPTY);
  });
});
