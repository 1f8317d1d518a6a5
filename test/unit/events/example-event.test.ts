import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { EVENT_CATALOGUE, SubscribableType, toEventView } from '../../../functions/events/events.ts';
import { buildExampleEvent } from '../../../functions/events/example-event.ts';
import { aTenant, NOW } from '../../builders.ts';

const webhookId = newId('whk', NOW);
const tenant = aTenant();
const build = (type: SubscribableType) =>
  buildExampleEvent(type, webhookId, { tenant, now: NOW, traceId: undefined });

describe.each(SubscribableType.options)('an example of %s', (type) => {
  it('has the fields of a real event, and no others', () => {
    const body = JSON.parse(build(type).body);
    expect(body).toEqual({
      type,
      schemaVersion: EVENT_CATALOGUE[type].schemaVersion,
      orgId: tenant.orgId,
      createdAt: NOW.toISOString(),
      data: expect.any(Object),
    });
    expect(Object.keys(body.data).sort()).toEqual(Object.keys(EVENT_CATALOGUE[type].fields).sort());
  });

  it('is for the tested endpoint alone', () => {
    expect(build(type)).toMatchObject({ type, onlyTo: webhookId });
  });

  it('is marked in the event log', () => {
    expect(toEventView(build(type))).toMatchObject({ type, example: true });
  });
});
