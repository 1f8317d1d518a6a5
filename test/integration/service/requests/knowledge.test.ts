import { until } from 'aws-local/test/until.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ApiClient } from '../../../support/api.ts';
import { anOrganization } from '../an-organization.ts';
import { aPlace } from '../place.ts';

const SOURCES = '/api/v1/knowledge/sources';

/* Requests about content sources, and sources of a sandbox, where nothing is fetched. */
const organization = anOrganization(aPlace());
let api: ApiClient;
beforeAll(() => {
  api = organization.client(organization.sandboxKey);
});

const url = 'https://www.example.com/prices';
const at = (program: string) => `${url}?simulate=${program}`;
const add = async (program: string): Promise<string> => {
  const { status, body } = await api.post(SOURCES, { kind: 'url', url: at(program) });
  expect(status).toBe(201);
  return `${SOURCES}/${body.data?.id}`;
};
/** Waits for the end of the check after the one that ended at `since`. */
const waitUntilChecked = (path: string, since: unknown = null) =>
  until(`a check of ${path}`, async () => {
    const { data } = (await api.get(path)).body;
    return data !== undefined && data.lastCheckedAt !== since && data;
  });
/** Runs the next step of a program. */
async function next(path: string) {
  const { body } = await api.get(path);
  expect((await api.post(`${path}/sync`)).status).toBe(202);
  return waitUntilChecked(path, body.data?.lastCheckedAt);
}

describe('a content source of a sandbox', () => {
  it('is imported, stays, changes and fails as its program says', async () => {
    const path = await add('200,304,200,503,200');
    const first = await waitUntilChecked(path);
    expect(first).toMatchObject({
      status: 'ok',
      version: 1,
      words: 60,
      difference: 0,
      title: 'Simulated content 1',
    });
    expect(first.lastChangedAt).toBe(first.lastCheckedAt);

    const same = await next(path);
    expect(same).toMatchObject({ status: 'ok', version: 1, lastChangedAt: first.lastChangedAt });
    expect(await next(path)).toMatchObject({ version: 2, difference: 100, lastNotifiedAt: null });
    expect(await next(path)).toMatchObject({
      status: 'failing',
      lastError: 'the server answered 503',
      lastErrorCode: 'http_status',
      version: 2,
      words: 60,
    });
    expect(await next(path)).toMatchObject({ status: 'ok', lastError: null, version: 3, difference: 100 });
  });

  it('shows the text that was imported, of the current version', async () => {
    const path = await add('200,200');
    const content = async () => (await api.get(`${path}/content`)).body.data;
    await waitUntilChecked(path);
    const first = await content();
    expect(first).toEqual({
      sourceId: path.split('/').at(-1),
      version: 1,
      words: 60,
      title: 'Simulated content 1',
      text: expect.stringMatching(/^(\w+ ){59}\w+$/),
      warnings: [],
    });
    await next(path);
    const second = await content();
    expect(second).toMatchObject({ version: 2 });
    expect(second?.text).not.toBe(first?.text);
  });
});
