import { expect, it } from 'vitest';
import { aPlace } from '../place.ts';
import { pageOf, paragraph, startPage } from './page.ts';

const SOURCES = '/api/v1/knowledge/sources';

const place = aPlace('defaults');

it('a check of a source can be requested once a minute for each source', async () => {
  const page = await startPage(place.service().tls, pageOf(paragraph('first')));
  place.keep({ close: () => page.stop() });
  const { api } = await place.tenant();
  const aSource = async () =>
    `${SOURCES}/${(await api.post(SOURCES, { kind: 'url', url: page.url })).body.data?.id}`;
  const [first, another] = [await aSource(), await aSource()];
  expect((await api.post(`${first}/sync`)).status).toBe(202);
  const { status, headers, body } = await api.post(`${first}/sync`);
  expect(status).toBe(429);
  expect(body.error?.type).toBe('RATE_LIMITED');
  expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
  expect((await api.post(`${another}/sync`)).status).toBe(202);
});
