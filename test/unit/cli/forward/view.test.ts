import { plain } from 'terminal/paint.ts';
import { describe, expect, it } from 'vitest';
import type { SandboxDelivery } from '../../../../packages/cli/src/forward/sandbox-api.ts';
import {
  renderForwarding,
  renderPassedOn,
  renderStart,
  renderSummary,
} from '../../../../packages/cli/src/forward/view.ts';

const TO = new URL('http://ada:hunter2@localhost:4000/hooks?token=hunter2');
const startedAt = new Date(2026, 10, 20, 14, 3, 22, 104);
const endedAt = new Date(2026, 10, 20, 14, 3, 22, 110);

const aDelivery = (changes: Partial<SandboxDelivery> = {}): SandboxDelivery => ({
  id: 'dlv_1',
  webhookId: 'whk_1',
  eventId: 'evt_1',
  eventType: 'conversation.created',
  state: 'attempted',
  request: { headers: { 'webhook-attempt': '2', 'webhook-signature': 'v1,hunter2' }, body: '{}' },
  ...changes,
});

describe('a forwarded delivery on the screen', () => {
  it('shows time, event, attempt, target and ids', () => {
    expect(renderForwarding(aDelivery(), new URL('http://localhost:4000/hooks'), startedAt, plain)).toBe(
      [
        '14:03:22.104  conversation.created  attempt 2  → http://localhost:4000/hooks',
        '              evt_1  dlv_1  whk_1',
      ].join('\n'),
    );
  });

  it('shows the answer, or why there is none', () => {
    const times = { startedAt, endedAt };
    expect(renderPassedOn(aDelivery(), { kind: 'answered', status: 500 }, times, plain)).toBe(
      '14:03:22.110  ← 500 after 6 ms  dlv_1',
    );
    expect(
      renderPassedOn(
        aDelivery(),
        { kind: 'failed', reason: 'nothing listens there', advice: 'Start the server.' },
        times,
        plain,
      ),
    ).toBe('14:03:22.110  ✗ nothing listens there after 6 ms  dlv_1\n              Start the server.');
  });

  it('shows no secret', () => {
    const place = { baseUrl: 'http://localhost:3000', endpoints: ['whk_1'], from: 'from now on' };
    const shown = renderForwarding(aDelivery(), TO, startedAt, plain) + renderStart({ to: TO }, place, plain);
    expect(shown).toContain('http://localhost:4000/hooks?…');
    expect(shown).not.toMatch(/hunter2|ada/);
  });

  it('contains no control sequence of a received text', () => {
    const steering = '\u001b[2J\u009b31m';
    const delivery = aDelivery({
      eventType: steering,
      eventId: steering,
      webhookId: steering,
      request: { headers: { 'webhook-attempt': steering }, body: '' },
    });
    expect(renderForwarding(delivery, TO, startedAt, plain)).not.toMatch(/[^\P{Cc}\n]/u);
  });
});

describe('the summary', () => {
  it.each([
    [{ accepted: 0, failed: 0 }, 'Forwarded nothing.'],
    [{ accepted: 1, failed: 0 }, 'Forwarded one delivery.'],
    [{ accepted: 2, failed: 1 }, 'Forwarded 3 deliveries, 1 not accepted.'],
  ])('of %j is its text', (tally, text) => {
    const shown = renderSummary(tally, '.local/forward/x.json', plain);
    expect(shown).toContain(text);
    expect(shown).toContain('kept in .local/forward/x.json');
  });
});
