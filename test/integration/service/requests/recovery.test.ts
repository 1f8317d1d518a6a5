import { PATIENCE } from 'aws-local/test/patience.ts';
import { until } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import { LARGEST_GROUP } from '../../../../functions/delivery/lanes.ts';
import { FAILURES_TO_DISABLE } from '../../../../functions/receivers/endpoint.ts';
import { startReceiver } from '../../../../packages/cli/src/receiver/receiver.ts';
import { casesOf } from '../../../support/cases.ts';
import { anOrganization } from '../an-organization.ts';
import { aPlace } from '../place.ts';
import { path } from '../receivers.ts';
import { storeFailures } from '../stored-failures.ts';

/** More than a page of a job, and more than disable an endpoint. */
const EVENTS = casesOf(120, 500);
/** As many as disable the endpoint, after the failures that are stored before, and some more. */
const TO_DISABLE = casesOf(3, 20);
const STORED_FAILURES = Math.max(0, FAILURES_TO_DISABLE - TO_DISABLE + 1);
/** For a job that goes at its receiver's pace, a group at a time: 5 deliveries a second at least. */
const JOB_MS = (EVENTS / 5) * 1000 + 60_000;
/** Tickets of one call each, so many at once. */
const AT_ONCE = 10;

/* An outage of a receiver from its first failure to the last event that it missed. */
const organization = anOrganization(aPlace());
const { place } = organization;

describe('an outage', { timeout: 240_000 * PATIENCE }, () => {
  it('ends with every event at the new endpoint once, those from before its registration included', async () => {
    const { live } = await place.pair();
    const { api } = live;
    let isUp = false;
    const received: { eventId: string; endpoint: string }[] = [];
    const receiver = await startReceiver({
      ...place.service().tls,
      respond: () => ({ status: isUp ? 200 : 503 }),
      onDelivery: ({ headers, path: endpoint }) => {
        if (isUp) received.push({ eventId: String(headers['webhook-id']), endpoint });
      },
    });
    place.keep({ close: receiver.stop });
    const types = ['ticket.created'];
    const create = async (reason: string): Promise<string> => {
      const { status, body } = await api.post('/api/v1/tickets', { reason });
      expect(status).toBe(201);
      return String(body.data?.id);
    };
    const createMany = async (count: number): Promise<void> => {
      for (let made = 0; made < count; made += AT_ONCE)
        await Promise.all(
          Array.from({ length: Math.min(AT_ONCE, count - made) }, () => create('during the outage')),
        );
    };

    const old = await api.register(`${receiver.url}/old`, types);
    if (STORED_FAILURES > 0) await storeFailures(place.service(), old.id, STORED_FAILURES);
    const from = new Date().toISOString();
    await createMany(TO_DISABLE);
    await until('the endpoint to be disabled', async () => {
      const { body } = await api.get(path(old.id));
      return body.data?.status === 'auto_disabled';
    });
    await createMany(EVENTS - TO_DISABLE);
    // An event that is fanned out after the registration needs no recovery.
    await until('every event to be fanned out', async () => {
      const all = await api.all(`${path(old.id)}/deliveries`);
      return all.length === EVENTS;
    });
    const fresh = await api.register(`${receiver.url}/new`, types);
    expect((await api.get(path(fresh.id))).body.data).toMatchObject({ predecessor: null });
    isUp = true;
    const during = await create('live, after the outage');

    const start = (changes: object) =>
      api.post(`${path(fresh.id)}/redeliveries`, { what: 'missing', from, ...changes });
    const ended = async (id: unknown) =>
      until(
        `the job ${id} to end`,
        async () => {
          const { body } = await api.get(`${path(fresh.id)}/redeliveries/${id}`);
          return body.data?.status === 'done' && body.data;
        },
        JOB_MS,
      );
    const counted = await ended((await start({ dryRun: true })).body.data?.id);
    expect(Number(counted.redelivered)).toBeGreaterThanOrEqual(EVENTS);
    expect(counted.eventTypes).toEqual([{ type: 'ticket.created', count: counted.redelivered }]);
    const job = await ended((await start({})).body.data?.id);

    const events = (await api.all('/api/v1/events', { type: 'ticket.created', from })).toReversed();
    expect(events).toHaveLength(EVENTS + 1);
    await until(
      'every event to arrive',
      async () => new Set(received.map((one) => one.eventId)).size > EVENTS,
    );
    const atNew = received.filter(({ endpoint }) => endpoint === '/new').map(({ eventId }) => eventId);
    expect(atNew.toSorted()).toEqual(events.map(({ id }) => id).toSorted());
    // The live event counts too when the job reads it before the fan-out.
    expect([EVENTS, EVENTS + 1]).toContain(job.redelivered);
    expect(Object(events.at(-1)?.data).ticketId).toBe(during);

    // They arrive in their order, except within a group; the live event does not wait for them.
    const places = atNew
      .map((eventId) => events.findIndex(({ id }) => id === eventId))
      .filter((place) => place < EVENTS);
    const behind = places.map((place, index) => Math.max(...places.slice(0, index + 1)) - place);
    expect(Math.max(...behind)).toBeLessThan(LARGEST_GROUP);
    // Registered at the same URL, an endpoint says what it replaces, also after that was deleted.
    const { disabledAt } = Object((await api.get(path(old.id))).body.data);
    const predecessor = { id: old.id, failingSince: expect.any(String), disabledAt };
    for (const again of ['before the deletion', 'after it']) {
      const { body } = await api.post('/api/v1/webhooks', { url: `${receiver.url}/old`, events: types });
      const replacing = String(body.data?.id);
      expect(body.data, again).toMatchObject({ predecessor });
      expect((await api.get(path(replacing))).body.data, again).toMatchObject({ predecessor });
      for (const id of [replacing, old.id]) await api.call({ method: 'DELETE', path: path(id) });
    }

    expect((await start({ dryRun: false })).status).toBe(202);
    await until('a second job to find nothing', async () => {
      const { body } = await api.get(`${path(fresh.id)}/redeliveries`);
      const [second] = [...(body.data ?? [])];
      return second?.status === 'done' && second.redelivered === 0;
    });
  });
});
