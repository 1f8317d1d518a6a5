import { until } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import { expectAccessible } from '../browser.ts';
import { ADMIN, type Dashboard } from '../dashboard-fixture.ts';
import { aChannelOwed, DOWN, FAILURES_TO_DISABLE, WELL } from './receiving.ts';

/** A resumption's job begins after 90 seconds. */
const LONG = { timeout: 240_000 };

export const channels = (dashboard: Dashboard) =>
  describe('channels', () => {
    it('are tested, paused and resumed on their page', async () => {
      const { id } = await aChannelOwed(dashboard, WELL, 1);
      const page = await dashboard.signedIn(ADMIN, '/channels');
      await page.getByRole('link', { name: 'SMS gateway' }).click();
      await page.getByRole('button', { name: 'Send a test' }).click();
      await page.getByText(/^Delivered in/).waitFor();
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Pause' }).click();
      await page.getByText('Paused: messages are not sent').waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Resume' }).click();
      await page.getByText('begins 90 seconds after resuming').waitFor();
      await page.getByRole('link', { name: 'All deliveries' }).click();
      await page.getByRole('link', { name: /channel\.test/ }).waitFor();
      expect(new URL(page.url()).pathname).toBe(`/deliveries/${id}`);
      await expectAccessible(page);
    });

    it(
      'that are disabled are resumed in either language, and each message arrives in order',
      LONG,
      async () => {
        const { receiver, id, said, say } = await aChannelOwed(dashboard, DOWN, FAILURES_TO_DISABLE);
        const { api } = dashboard.service;
        await until('the channel is disabled', async () => {
          return (await api.get(`/api/v1/channels/${id}`)).body.data?.status === 'auto_disabled';
        });
        for (let message = 0; message < 5; message += 1) said.push(await say());
        const page = await dashboard.signedIn(ADMIN, `/channels/${id}`);
        await page.getByText('Disabled: messages are not sent').waitFor();
        await page
          .getByText('the database of the receiver is down')
          .or(page.getByText('500'))
          .first()
          .waitFor();
        await expectAccessible(page);
        const german = await dashboard.signedIn(ADMIN, `/channels/${id}`, { locale: 'de' });
        await german.getByText('Abgeschaltet: Nachrichten werden nicht gesendet').waitFor();
        await expectAccessible(german);

        receiver.received.length = 0;
        receiver.answer = WELL;
        await german.getByRole('button', { name: 'Fortsetzen' }).click();
        await german.getByText('90 Sekunden nach dem Fortsetzen').waitFor();
        await until('all messages have arrived', () => receiver.received.length >= said.length, 180_000);
        const arrived = receiver.received.map(({ body }) => JSON.parse(body.toString()).data.messageId);
        expect(arrived).toEqual(said);
        await german.getByText(`${said.length} von ${said.length} erneut gesendet`).waitFor();
        await expectAccessible(german);
      },
    );
  });
