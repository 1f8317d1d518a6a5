import { until } from 'aws-local/test/until.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ApiClient } from '../../../support/api.ts';
import { anOrganization } from '../an-organization.ts';
import { aPlace } from '../place.ts';
import { expectProblem } from './expect-problem.ts';

const SOURCES = '/api/v1/knowledge/sources';

/* Requests about content sources, and sources of a sandbox, where nothing is fetched. */
const organization = anOrganization(aPlace('withoutWaits'));
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

describe('content sources', () => {
  it('are created, read, listed and deleted', async () => {
    const given = { kind: 'feed', url: 'https://WWW.example.com/news', name: 'News' };
    const created = await api.post(SOURCES, given);
    expect(created.status).toBe(201);
    const { id, createdAt, ...shown } = Object(created.body.data);
    expect(shown).toEqual({
      ...given,
      url: 'https://www.example.com/news',
      status: 'pending',
      title: null,
      words: null,
      version: null,
      difference: null,
      lastCheckedAt: null,
      lastChangedAt: null,
      lastNotifiedAt: null,
      nextCheckAt: createdAt,
      lastError: null,
      warnings: [],
    });
    const path = `${SOURCES}/${id}`;
    expect(created.headers.location).toBe(path);

    const read = await waitUntilChecked(path);
    expect(read).toMatchObject({ id, createdAt, name: 'News', status: 'ok' });
    expect(await api.all(SOURCES)).toContainEqual(read);

    for (let times = 1; times <= 2; times += 1)
      expect((await api.call({ method: 'DELETE', path })).status).toBe(204);
    expectProblem(await api.get(path), 404, 'NOT_FOUND');
    expectProblem(await api.post(`${path}/sync`), 404, 'NOT_FOUND');
    expect((await api.all(SOURCES)).map((source) => source.id)).not.toContain(id);
  });
});

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

  it('shows the lines added and removed since the version that admins know', async () => {
    const path = await add('200,200');
    const changes = async () => (await api.get(`${path}/changes`)).body.data;
    const sourceId = path.split('/').at(-1);
    await waitUntilChecked(path);
    const first = { version: 1, words: 60 };
    expect(await changes()).toEqual({
      sourceId,
      from: first,
      to: first,
      difference: 0,
      added: '',
      removed: '',
      announced: null,
    });
    await next(path);
    expect(await changes()).toEqual({
      sourceId,
      from: first,
      to: { version: 2, words: 60 },
      difference: 100,
      added: expect.stringMatching(/\w/),
      removed: expect.stringMatching(/\w/),
      announced: null,
    });
    await api.call({ method: 'DELETE', path });
    expectProblem(await api.get(`${path}/changes`), 404, 'NOT_FOUND');
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
    await api.call({ method: 'DELETE', path });
    expectProblem(await api.get(`${path}/content`), 404, 'NOT_FOUND', /content source/);
  });

  it('that cannot be fetched fails from its first check, and has no content and nothing to compare', async () => {
    const path = await add('dns');
    expect(await waitUntilChecked(path)).toMatchObject({
      status: 'failing',
      lastError: 'host name does not resolve',
      lastErrorCode: 'dns',
      version: null,
    });
    expectProblem(await api.get(`${path}/content`), 404, 'NOT_FOUND', /imported content/);
    const nothing = { from: null, to: null, difference: null, added: '', removed: '' };
    expect((await api.get(`${path}/changes`)).body.data).toMatchObject(nothing);
  });

  it.each([
    ['https://10.0.0.1/', /url must have a public/],
    [at('teapot'), /url must set simulate/],
  ])('is refused at %s', async (refused, message) => {
    const answer = await api.post(SOURCES, { kind: 'url', url: refused });
    expectProblem(answer, 400, 'VALIDATION_ERROR', message);
  });
});
