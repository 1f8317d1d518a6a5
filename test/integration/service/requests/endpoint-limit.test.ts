import { describe, expect, it } from 'vitest';
import { anOrganization } from '../an-organization.ts';
import { aPlace } from '../place.ts';
import { ok, path } from '../receivers.ts';

/* Deliveries to endpoints with `maxPerSecond`. */
const organization = anOrganization(aPlace('withoutWaits'));
describe('an endpoint with a limit of attempts per second', () => {
  it('gets all deliveries with one attempt each, no faster than the limit', async () => {
    const [count, maxPerSecond] = [13, 2];
    const { id, received } = await organization.subscribe(ok);
    const body = { maxPerSecond };
    const updated = await organization.api.call({ method: 'PATCH', path: path(id), body });
    expect(updated.body.data).toMatchObject(body);

    const beganAt = Date.now();
    for (let sent = 0; sent < count; sent += 1) await organization.api.post(`${path(id)}/test`);
    const ended = await organization.ended(id, count);

    expect(ended.map(({ status, attempts }) => ({ status, attempts }))).toEqual(
      Array(count).fill({ status: 'succeeded', attempts: 1 }),
    );
    expect(received).toHaveLength(count);
    // A start is made up for by 0.1 s at most.
    const lastAt = Math.max(...ended.map(({ terminalAt }) => Date.parse(String(terminalAt))));
    expect(lastAt - beganAt).toBeGreaterThan(((count - 1) / maxPerSecond) * 1000 - 100);
  });
});
