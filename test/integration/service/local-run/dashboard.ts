import { describe, expect, it } from 'vitest';
import { aBrowser } from '../../../../packages/aws-local/test/integration/identity/a-browser.ts';
import { MAIL_LINKS } from '../../../support/mail-links.ts';
import type { LocalService } from '../a-service.ts';

/** The dashboard in a browser: its page, and the sign-in at the local identity provider. */
export function dashboard(service: LocalService): void {
  const origin = () => service.run.environment.BASE_URL;
  const page = (path: string, init?: RequestInit) =>
    fetch(`${origin()}${path}`, { redirect: 'manual', ...init });

  it.each(['/', '/signed-in?code=x&state=y', '/deliveries/dlv_1', ...MAIL_LINKS])(
    'serves its one page at %s',
    async (path) => {
      const response = await page(path);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html']);
      expect(response.headers.get('cache-control')).toBe('no-cache');
      expect(response.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self';/,
      );
      expect(await response.text()).toContain('<div id="root">');
    },
  );

  it('serves every file that the page refers to, and refers to no other origin', async () => {
    const html = await (await page('/')).text();
    const addresses = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address);
    expect(addresses.length).toBeGreaterThan(1);
    for (const address of addresses) {
      expect(address).toMatch(/^\/[^/]/);
      const response = await page(address);
      expect([response.status, response.headers.get('x-content-type-options')], address).toEqual([
        200,
        'nosniff',
      ]);
      if (address.startsWith('/assets/'))
        expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    }
  });

  it('leaves the paths of the API reference, the mailbox and the API as they are', async () => {
    expect((await page('/docs')).headers.get('location')).toBe('/api/docs');
    expect(await (await page('/mailbox')).text()).toContain('Mail');
    const unknown = await page('/api/v1/nothing');
    expect([unknown.status, Object(await unknown.json()).error.type]).toEqual([404, 'NOT_FOUND']);
  });

  describe('a user', () => {
    const jar = new Map<string, string>();

    /** Sends the requests that a page of the dashboard sends. */
    async function call(method: string, path: string, body?: object) {
      const response = await page(`/api${path}`, {
        method,
        headers: {
          origin: origin(),
          cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
          'content-type': 'application/json',
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      for (const cookie of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
        if (/Max-Age=0;/.test(cookie)) jar.delete(name);
        else jar.set(name, value);
      }
      return { status: response.status, data: Object(await response.json()).data };
    }
    const session = () => call('GET', '/settings/session');

    it('signs in, reads the session, renews it and signs out', async () => {
      expect((await session()).status).toBe(401);
      const begun = await call('POST', '/session/sign-in', { returnTo: '/deliveries' });
      expect(begun.status).toBe(200);
      const browser = aBrowser();
      const form = await browser.open(begun.data.location);
      const { leavesTo } = await browser.submit(form, { email: 'admin@local.test', password: 'local-run' });
      expect(`${leavesTo?.origin}${leavesTo?.pathname}`).toBe(`${origin()}/signed-in`);
      const { code, state } = Object.fromEntries(leavesTo?.searchParams ?? []);
      expect(await call('POST', '/session', { code, state })).toEqual({
        status: 200,
        data: { returnTo: '/deliveries' },
      });

      const { status, data } = await session();
      expect([status, data]).toEqual([
        200,
        {
          userId: expect.any(String),
          email: 'admin@local.test',
          organizationId: service.run.environment.ORG_ID,
          organizationName: expect.any(String),
          role: 'admin',
          expiresAt: expect.stringMatching(/^\d{4}-/),
        },
      ]);

      jar.delete('__Host-session');
      expect((await session()).status).toBe(401);
      expect((await call('POST', '/session/renewal')).status).toBe(200);
      expect((await session()).data.userId).toBe(data.userId);

      const renewal = jar.get('__Host-renewal') ?? '';
      const out = await call('DELETE', '/session');
      expect([out.status, jar.size]).toEqual([200, 0]);
      expect((await browser.open(out.data.location)).leavesTo?.href).toBe(`${origin()}/`);
      // The session was revoked, and the issuer no longer recognizes the browser.
      jar.set('__Host-renewal', renewal);
      expect((await call('POST', '/session/renewal')).status).toBe(401);
      expect((await browser.open(begun.data.location)).text).toContain('<h1>Sign in</h1>');
    });
  });
}
