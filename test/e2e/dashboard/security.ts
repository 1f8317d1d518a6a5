import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { apiClient } from '../../support/api.ts';
import { ADMIN, type Dashboard, type Extent } from '../dashboard-fixture.ts';
import { aReceiverOwed } from './receiving.ts';

/** The goals of an attacker: an endpoint that receives every event, and a key with every scope. */
const ENDPOINT = JSON.stringify({ url: 'https://attacker.example/all', events: ['message.received'] });
const KEY = JSON.stringify({ name: 'attacker', scopes: ['write:webhooks'] });

/**
 * A page of an attacker.
 * @param host as browsers see it: `127.0.0.1` is another site, `localhost` the same one with another origin
 */
async function foreignPage(page: Page, host: string, html: string): Promise<void> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(html);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await page.goto(`http://${host}:${(server.address() as AddressInfo).port}/`);
}

export const security = (dashboard: Dashboard, { isWhole }: Extent) =>
  describe('an attack', () => {
    /** The current endpoints and keys, read with the admin's own token. */
    async function belongings(): Promise<string> {
      const { ADMIN_TOKEN: API_KEY, BASE_URL } = dashboard.service.run.environment;
      const api = apiClient({ BASE_URL, API_KEY }, 1);
      const [endpoints, keys] = [
        await api.all('/api/settings/webhooks'),
        await api.all('/api/settings/api-keys'),
      ];
      api.close();
      return JSON.stringify([
        endpoints.map(({ id, url, events }) => ({ id, url, events })),
        keys.map(({ id, name, revokedAt }) => ({ id, name, revokedAt })),
      ]);
    }

    it.each([
      // From another site the browser sends no cookie, from the same site it does.
      ['127.0.0.1', 401],
      ['localhost', 403],
    ])("changes nothing: a form that a page of %s posts with an admin's browser", async (host, status) => {
      const page = await dashboard.signedIn(ADMIN);
      const before = await belongings();
      // With the type text/plain, a form can send JSON.
      const [start, end] = KEY.split('attacker');
      await foreignPage(
        page,
        host,
        `<form method="post" enctype="text/plain" action="${dashboard.origin}/api/settings/api-keys">
             <input name='${start}' value='attacker${end}'><button>Win a prize</button></form>`,
      );
      const answered = page.waitForResponse(/api-keys/);
      await page.getByRole('button').click();
      expect((await answered).status()).toBe(status);
      expect(await belongings()).toBe(before);
    });

    it("is shown as text: a script in a receiver's answer, and in a URL", async () => {
      const script = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';
      const { id } = await aReceiverOwed(dashboard, { status: 500, body: script }, 1);
      const page = await dashboard.signedIn(ADMIN, `/deliveries/${id}`);
      await page.getByRole('list', { name: 'Deliveries' }).getByRole('link').first().click();
      await page.getByText(script).first().waitFor();
      const ran = () => page.evaluate('"pwned" in window');
      expect(await ran()).toBe(false);
      const hostile = 'https://example.com/\'"><script>window.pwned=1</script>';
      const { body } = await dashboard.service.api.post('/api/v1/webhooks', {
        url: hostile,
        events: ['ticket.created'],
      });
      const endpoint = body.data as unknown as { id: string; url: string };
      await page.goto(`${dashboard.origin}/endpoints/${endpoint.id}`);
      const name = endpoint.url.replace('https://', '');
      await page.getByRole('heading', { name }).waitFor();
      expect(await ran()).toBe(false);
      await page.goto(`${dashboard.origin}/endpoints`);
      await page.getByText(name).first().waitFor();
      expect(await ran()).toBe(false);
      await dashboard.service.api.call({ method: 'DELETE', path: `/api/v1/webhooks/${endpoint.id}` });
    });

    if (!isWhole) return;

    it.each(['127.0.0.1', 'localhost'])(
      'changes nothing: a script of %s that sends the cookies',
      async (host) => {
        const page = await dashboard.signedIn(ADMIN);
        const before = await belongings();
        await foreignPage(page, host, '<p>A page');
        const results = await page.evaluate(
          async ({ origin, endpoint, key }) => {
            const attempts: [string, RequestInit][] = [
              ['/api/settings/webhooks', { mode: 'no-cors', body: endpoint }],
              ['/api/settings/api-keys', { mode: 'no-cors', body: key }],
              [
                '/api/settings/api-keys',
                { mode: 'cors', headers: { 'content-type': 'application/json' }, body: key },
              ],
            ];
            const read: string[] = [];
            for (const [path, init] of attempts)
              await fetch(`${origin}${path}`, { method: 'POST', credentials: 'include', ...init }).then(
                async (response) => read.push(await response.text()),
                () => read.push(''),
              );
            return read;
          },
          { origin: dashboard.origin, endpoint: ENDPOINT, key: KEY },
        );
        // Nor can it read the answers.
        expect(results).toEqual(['', '', '']);
        expect(await belongings()).toBe(before);
      },
    );

    it('changes nothing: a stolen API key, with every request of the dashboard', async () => {
      const { API_KEY, BASE_URL } = dashboard.service.run.environment;
      const before = await belongings();
      const api = apiClient({ BASE_URL, API_KEY }, 1);
      const id = JSON.parse(before)[0][0]?.id ?? 'whk_01a1f84a95c07695ad2eb51327f7e625';
      const calls = [
        ['POST', '/api/settings/webhooks', ENDPOINT],
        ['DELETE', `/api/settings/webhooks/${id}`, undefined],
        ['POST', `/api/settings/webhooks/${id}/test`, undefined],
        ['POST', '/api/settings/api-keys', KEY],
        ['POST', '/api/settings/sandbox/reset', undefined],
        ['PATCH', '/api/settings/organization', '{"contentChangeThreshold":100}'],
      ] as const;
      for (const [method, path, body] of calls) {
        const headers = {
          origin: dashboard.origin,
          'content-type': 'application/json',
          'idempotency-key': crypto.randomUUID(),
        };
        const answer = await api.call({ method, path, headers, ...(body === undefined ? {} : { body }) });
        expect(answer.status, `${method} ${path}`).toBe(403);
      }
      api.close();
      expect(await belongings()).toBe(before);
    });

    it('opens no other site: a return path that leads elsewhere', async () => {
      const page = await dashboard.signedIn(ADMIN);
      for (const returnTo of ['https://attacker.example/', '//attacker.example', '/\\attacker.example']) {
        const status = await page.evaluate(
          async (to) =>
            (
              await fetch('/api/session/sign-in', {
                method: 'POST',
                headers: { 'content-type': 'application/json' },
                body: JSON.stringify({ returnTo: to }),
              })
            ).status,
          returnTo,
        );
        expect(status, returnTo).toBe(400);
      }
    });
  });
