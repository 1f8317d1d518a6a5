import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PATIENCE } from 'aws-local/test/patience.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aService } from '../integration/service/a-service.ts';
import { expectAccessible, launch } from './browser.ts';
import { chromium, WITHOUT_WAITS } from './dashboard-fixture.ts';

const EXAMPLE = join(import.meta.dirname, '../../examples/widget');
const TYPES = { html: 'text/html', js: 'text/javascript' };

/**
 * The example's pages on an origin of their own, with a token for each request for one.
 * @returns their URL
 */
async function serveExample(api: string, createToken: () => Promise<unknown>): Promise<string> {
  const server = createServer(async ({ method, url = '/' }, response) => {
    if (method === 'POST') {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ token: await createToken() }));
      return;
    }
    const name = url === '/' ? 'index.html' : url.slice(1);
    const file = await readFile(join(EXAMPLE, name), 'utf8').catch(() => undefined);
    response.statusCode = file === undefined ? 404 : 200;
    response.setHeader('Content-Type', TYPES[name.endsWith('.js') ? 'js' : 'html']);
    response.end(file?.replace('https://api.example.com', api));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

describe.skipIf(chromium === undefined)('the example of a widget', () => {
  const service = aService(WITHOUT_WAITS);

  async function create(path: string, body?: object): Promise<string> {
    const answer = await service.api.post(path, body);
    expect([path, answer.status]).toEqual([path, 201]);
    return String(answer.body.data?.id ?? answer.body.data?.token);
  }

  it('holds a dialogue', { timeout: 120_000 * PATIENCE }, async () => {
    const channelId = await create('/api/v1/channels', { kind: 'web_widget', name: 'Shop' });
    const conversation = `/api/v1/conversations/${await create('/api/v1/conversations', { channelId, externalUserId: 'ada' })}`;
    const say = (content: string) => create(`${conversation}/messages`, { role: 'agent', content });
    const browser = await launch(String(chromium));
    onTestFinished(() => browser.close());
    const page = await (await browser.newContext()).newPage();
    const errors: unknown[] = [];
    page.on('pageerror', (error) => errors.push(error));
    let tokens = 0;
    await page.goto(
      await serveExample(new URL(service.run.environment.BASE_URL).origin, async () => {
        tokens += 1;
        // The first one has expired.
        return tokens === 1 ? 'cvt_x' : create(`${conversation}/visitor-token`);
      }),
    );
    const shown = page.getByRole('log').getByRole('listitem');
    const expectShown = (texts: string[]) =>
      expect.poll(() => shown.allTextContents(), { timeout: 20_000 }).toEqual(texts);
    const answer = async (content: string) => {
      await page.getByLabel('Your message').fill(content);
      await page.getByRole('button', { name: 'Send' }).click();
    };

    const markup = '<img src=x onerror="document.title = 1"><script>document.title = 1</script>';
    await say(markup);
    await expectShown([markup]);
    await answer('Where is <b>my order</b>?\nIt is late.');
    await expectShown([markup, 'Where is <b>my order</b>?\nIt is late.']);
    await service.api.post(`${conversation}/resolve`);
    await answer('One more thing');
    const asked = [markup, 'Where is <b>my order</b>?\nIt is late.', 'One more thing'];
    await expectShown(asked);
    await say('Yes?');
    await expectShown([...asked, 'Yes?']);

    expect((await service.api.get(conversation)).body.data).toMatchObject({ status: 'open' });
    const { body } = await service.api.get(`${conversation}/messages`);
    expect([...(body.data ?? [])].map(({ role }) => role)).toEqual(['agent', 'user', 'user', 'agent']);
    expect([tokens, await page.title(), await page.locator('img').count(), errors]).toEqual([
      2,
      'Chat',
      0,
      [],
    ]);
    await expectAccessible(page);
  });
});
