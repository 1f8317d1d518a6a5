import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { until } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import { aTenant, type Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';
import { CHECKS_PER_ORGANIZATION } from '../stacks/settings.ts';

const SOURCES = '/api/v1/knowledge/sources';

/** A server that holds requests below `/slow` until `answer` is called. */
async function aServer(tls: { cert: string; key: string }) {
  const { promise: told, resolve: answer } = Promise.withResolvers<void>();
  let open = 0;
  let most = 0;
  const server = createServer(tls, async ({ url }, response) => {
    if (url?.startsWith('/slow')) {
      open += 1;
      most = Math.max(most, open);
      response.on('close', () => {
        open -= 1;
      });
      await told;
    }
    response.setHeader('content-type', 'text/html').end('<p>one two three</p>');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    open: () => open,
    most: () => most,
    answer,
    close() {
      answer();
      server.closeAllConnections();
      server.close();
    },
  };
}

async function add({ api }: Tenant, url: string): Promise<string> {
  const { status, body } = await api.post(SOURCES, { kind: 'url', url });
  expect(status).toBe(201);
  return `${SOURCES}/${body.data?.id}`;
}

const waitUntilImported = ({ api }: Tenant, path: string) =>
  until(`the import of ${path}`, async () => (await api.get(path)).body.data?.status === 'ok');

/* Checks of one organization beside those of others. */
const place = aPlace('withoutWaits');
describe('checks of sources', () => {
  it("run at most in their organization's share when pages are slow, and do not delay those of others", async () => {
    const server = place.keep(await aServer(place.service().tls));
    const [slow, other] = [
      place.keep(await aTenant(place.service())),
      place.keep(await aTenant(place.service())),
    ];
    const paths = await Promise.all(
      Array.from({ length: CHECKS_PER_ORGANIZATION + 3 }, (_, index) =>
        add(slow, `${server.url}/slow/${index}`),
      ),
    );
    await until('the share to be in use', () => server.open() === CHECKS_PER_ORGANIZATION);

    await waitUntilImported(other, await add(other, `${server.url}/page`));

    server.answer();
    await Promise.all(paths.map((path) => waitUntilImported(slow, path)));
    expect(server.most()).toBe(CHECKS_PER_ORGANIZATION);
  });
});
