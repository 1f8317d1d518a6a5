import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { sqs } from 'aws-local/test/engines.ts';
import { expect, it } from 'vitest';
import { workerQueue } from '../../../functions/delivery/queues.ts';
import { BusEvent } from '../../../functions/events/bus.ts';
import { buildDueEvent } from '../../../functions/knowledge/sources.ts';
import { aSource, NOW } from '../../builders.ts';

const engine = sqs();

it('a message that is sent to the queue of checks equals one from the bus', async () => {
  const { url } = await engine.queues({ visibilitySeconds: 60, maxReceives: 3 });
  const events = Array.from({ length: 10 }, () =>
    buildDueEvent({ ...aSource(), dueAt: NOW.toISOString() }, NOW),
  );

  expect(await workerQueue(engine.client(), url).send(events)).toEqual([]);

  const received: BusEvent[] = [];
  for (let poll = 1; poll <= 20 && received.length < events.length; poll += 1) {
    const { Messages = [] } = await engine
      .client()
      .send(new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }));
    received.push(...Messages.map(({ Body = '' }) => BusEvent.parse(JSON.parse(Body).detail)));
  }
  const byId = (all: readonly BusEvent[]) => all.toSorted((a, b) => a.id.localeCompare(b.id));
  expect(byId(received)).toEqual(byId(events));
});
