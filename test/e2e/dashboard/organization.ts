import { until } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import { apiClient } from '../../support/api.ts';
import { expectAccessible } from '../browser.ts';
import { ADMIN, type Dashboard, type Extent } from '../dashboard-fixture.ts';

/** The status of a request with a key. */
async function statusWith(dashboard: Dashboard, key: string, path: string): Promise<number> {
  const { BASE_URL } = dashboard.service.run.environment;
  const api = apiClient({ BASE_URL, API_KEY: key }, 1);
  try {
    return (await api.get(path)).status;
  } finally {
    api.close();
  }
}

export const apiKeys = (dashboard: Dashboard, { isWhole }: Extent) =>
  describe('API keys', () => {
    it('are created, shown once, used, and revoked', async () => {
      const page = await dashboard.signedIn(ADMIN, '/api-keys');
      await page.getByRole('button', { name: 'Create a key' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Reporting <b>of</b> Ada');
      await dialog.getByText(/^Read conversations/).click();
      await dialog.getByRole('button', { name: 'Create a key' }).click();
      const secret = (await dialog.getByText(/^ck_live_/).textContent()) ?? '';
      await dialog.getByText('I have stored it in a safe place').click();
      await dialog.getByRole('button', { name: 'Done' }).click();
      expect(await page.content()).not.toContain(secret);

      expect(await statusWith(dashboard, secret, '/api/v1/conversations')).toBe(200);
      expect(await statusWith(dashboard, secret, '/api/v1/webhooks')).toBe(403);
      const row = page.getByRole('row').filter({ hasText: 'Reporting <b>of</b> Ada' });
      await until('the last use to be shown', async () => {
        await page.reload();
        await row.waitFor();
        return (await row.getByText('Never').count()) === 0;
      });

      await row.getByRole('button', { name: /^Revoke/ }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke the key' }).click();
      await row.waitFor({ state: 'hidden' });
      expect(await statusWith(dashboard, secret, '/api/v1/conversations')).toBe(401);
    });

    if (!isWhole) return;

    it('may exist although the answer was lost: the dialog says so, with a link to the list', async () => {
      const page = await dashboard.signedIn(ADMIN, '/api-keys');
      await page.route('**/api/settings/api-keys', async (route) => {
        if (route.request().method() !== 'POST') return route.continue();
        await route.fetch();
        await route.abort();
      });
      await page.getByRole('button', { name: 'Create a key' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Never shown');
      await dialog.getByText(/^Read conversations/).click();
      await dialog.getByRole('button', { name: 'Create a key' }).click();
      await dialog.getByText('The key may have been created').waitFor();
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'See the keys' }).click();
      const row = page.getByRole('row').filter({ hasText: 'Never shown' });
      await row.getByRole('button', { name: /^Revoke/ }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke the key' }).click();
      await row.waitFor({ state: 'hidden' });
    });

    it('cannot be left while one is being created', async () => {
      const page = await dashboard.signedIn(ADMIN, '/api-keys');
      const answer = Promise.withResolvers<void>();
      await page.route('**/api/settings/api-keys', async (route) => {
        if (route.request().method() === 'POST') await answer.promise;
        await route.continue();
      });
      await page.getByRole('button', { name: 'Create a key' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Slowly made');
      await dialog.getByText(/^Read conversations/).click();
      await dialog.getByRole('button', { name: 'Create a key' }).click();
      await dialog.locator('button[aria-disabled="true"]').waitFor();
      expect(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true);
      await page.keyboard.press('Escape');
      answer.resolve();
      await dialog.getByText(/^ck_live_/).waitFor();
    });
  });

export const sandbox = (dashboard: Dashboard, { isWhole }: Extent) =>
  describe('the sandbox', () => {
    it('returns another key, which works in it', async () => {
      const page = await dashboard.signedIn(ADMIN, '/sandbox');
      await page.getByRole('button', { name: 'Create another key' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Integration test');
      await dialog.getByText(/^Write conversations/).click();
      await dialog.getByRole('button', { name: 'Create the key' }).click();
      const secret = (await dialog.getByText(/^ck_sandbox_/).textContent()) ?? '';
      expect(await statusWith(dashboard, secret, '/api/v1/conversations')).toBe(200);
    });

    if (!isWhole) return;

    it('shows the requests of a simulated receiver, and is empty after a reset', async () => {
      const { SANDBOX_API_KEY: API_KEY, BASE_URL } = dashboard.service.run.environment;
      const api = apiClient({ BASE_URL, API_KEY }, 1);
      const { id } = await api.register('https://example.com/hooks?simulate=200', ['conversation.created']);
      await api.post('/api/v1/conversations', {
        channelId: 'web',
        externalUserId: '<script>window.pwned=1</script>',
      });
      api.close();
      const page = await dashboard.signedIn(ADMIN, `/sandbox/deliveries/${id}`);
      const rows = page.getByRole('list', { name: 'Deliveries' }).getByRole('link');
      await rows.first().click();
      const detail = page.getByRole('region', { name: 'Delivery' });
      await detail.getByText('webhook-signature').waitFor();
      await detail.getByText('<script>window.pwned=1</script>').first().waitFor();
      expect(await page.evaluate('"pwned" in window')).toBe(false);

      await page.goto(`${dashboard.origin}/sandbox`);
      const name = await page.locator('header a').first().textContent();
      await page.getByRole('button', { name: 'Reset', exact: true }).click();
      const confirm = page.getByRole('button', { name: 'Reset the sandbox' });
      expect(await confirm.isDisabled()).toBe(true);
      await page.getByLabel('Type the name of the organization to confirm').fill(name ?? '');
      await confirm.click();
      await confirm.waitFor({ state: 'hidden' });
      await page.goto(`${dashboard.origin}/sandbox/deliveries/${id}`);
      await page.getByText('No deliveries').waitFor();
    });

    it('has the same pages, marked as the sandbox', async () => {
      const page = await dashboard.signedIn(ADMIN, '/endpoints');
      await page.getByRole('navigation', { name: 'What is shown' }).getByText('Sandbox').click();
      await page.waitForURL('**/sandbox/endpoints');
      await page.getByText('nothing here leaves the service').waitFor();
      await page.getByRole('navigation', { name: 'What is shown' }).getByText('Live').click();
      await page.waitForURL('**/endpoints');
      await page.getByRole('complementary').waitFor({ state: 'hidden' });
    });

    it('stays selected across the pages of the whole organization', async () => {
      const page = await dashboard.signedIn(ADMIN, '/sandbox/endpoints');
      const pages = page.getByRole('navigation', { name: 'Pages' });
      await pages.getByText('Settings').click();
      await page.waitForURL('**/settings');
      await page.getByRole('complementary').getByText('the same for live and sandbox').waitFor();
      await page.reload();
      await pages.getByText('Usage').click();
      await pages.getByText('Endpoints').click();
      await page.waitForURL('**/sandbox/endpoints');
      await page.getByRole('complementary').getByText('nothing here leaves the service').waitFor();
    });

    it('never shows figures of the live organization', async () => {
      const page = await dashboard.signedIn(ADMIN, '/');
      await page.getByText('Success rate').waitFor();
      const answer = Promise.withResolvers<void>();
      await page.route('**/api/settings/deliveries/stats?*environment=sandbox*', async (route) => {
        await answer.promise;
        await route.continue();
      });
      await page.getByRole('navigation', { name: 'What is shown' }).getByText('Sandbox').click();
      await page.getByRole('complementary').waitFor();
      await page.getByRole('status', { name: 'Loading' }).waitFor();
      expect(await page.getByText('Success rate').count()).toBe(0);
      answer.resolve();
      await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
    });
  });
