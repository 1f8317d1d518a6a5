import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Deprecation } from '../../../functions/http/route.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { aRequest, createThing, envelope, send, thingRoute } from './call.ts';
import { type InMemory, inMemory } from './in-memory.ts';

const DAY = seconds(86_400);
const announced = {
  since: true,
  sunset: later(NOW, DAY).toISOString(),
  guide: 'https://docs.example.com/to-v2',
} as const satisfies Deprecation;

const headersOf = (deprecation: Deprecation) => ({ ...thingRoute, deprecation });
const call = (
  deprecation: Deprecation,
  change: Parameters<typeof aRequest>[1] = {},
  service: InMemory = inMemory(),
) => send(headersOf(deprecation), service, aRequest(service, change), createThing());

describe('a deprecated route', () => {
  it.each([
    ['a success', {}, 201],
    ['a refused key', { headers: { Authorization: undefined } }, 401],
    ['a missing resource', { pathParameters: { id: 'nothing' } }, 404],
    ['a bad body', { body: '{' }, 400],
    ['a body of another type', { headers: { 'Content-Type': 'text/plain' } }, 415],
  ] as const)('announces its end on %s', async (_, change, status) => {
    const answer = await call(announced, change);
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({
      Deprecation: 'true',
      Sunset: 'Sat, 21 Nov 2026 09:30:00 GMT',
      Link: '<https://docs.example.com/to-v2>; rel="deprecation"',
    });
  });

  it('announces its end on a 429, a 500 and a 503', async () => {
    const [limited, broken, busy] = [inMemory(), inMemory(), inMemory()];
    limited.budget = 0;
    broken.ports.commit = async () => {
      throw new Error('broken');
    };
    busy.ports.commit = async () => {
      throw Object.assign(new Error('busy'), { name: 'ThrottlingException' });
    };
    const answers = await Promise.all([limited, broken, busy].map((service) => call(announced, {}, service)));
    expect(answers.map(({ status }) => status)).toEqual([429, 500, 503]);
    for (const { headers } of answers) expect(headers).toMatchObject({ Deprecation: 'true' });
  });

  it('may name the deprecation date, and needs no guide', async () => {
    const { headers } = await call({ since: NOW.toISOString(), sunset: announced.sunset });
    expect(headers).toMatchObject({ Deprecation: 'Fri, 20 Nov 2026 09:30:00 GMT' });
    expect(headers).not.toHaveProperty('Link');
  });

  it('is served until its sunset and gone for every caller from then on', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: -2 * DAY, max: 2 * DAY }), async (offset) => {
        const answer = await call({ ...announced, sunset: later(NOW, offset).toISOString() });
        expect(answer.status).toBe(offset > 0 ? 201 : 410);
      }),
    );
    const past = { ...announced, sunset: NOW.toISOString() };
    for (const change of [{}, { headers: { Authorization: undefined } }, { body: '{' }]) {
      const answer = await call(past, change);
      expect(answer).toMatchObject({ status: 410, body: envelope('GONE') });
      expect(answer.headers).toMatchObject({ Deprecation: 'true', Sunset: NOW.toUTCString() });
    }
  });

  it('has no effects after its sunset', async () => {
    const service = inMemory();
    await call({ ...announced, sunset: NOW.toISOString() }, {}, service);
    expect(service.commits).toEqual([]);
  });
});

it('a route that is not deprecated has no such headers', async () => {
  const service = inMemory();
  const { headers } = await send(thingRoute, service, aRequest(service), createThing());
  for (const name of ['Deprecation', 'Sunset', 'Link']) expect(headers).not.toHaveProperty(name);
});
