import { stripVTControlCharacters, styleText } from 'node:util';
import { type Paint, plain } from 'terminal/paint.ts';
import { describe, expect, it } from 'vitest';
import { renderAnswer, renderDelivery } from '../../../packages/cli/src/delivery-view.ts';
import { aDelivery } from './received-delivery.ts';

const coloured: Paint = (style, text) => styleText(style, text, { validateStream: false });

describe('a delivery on the screen', () => {
  it('shows time, event, attempt, signature, ids and body', () => {
    expect(renderDelivery(aDelivery(), false, plain)).toBe(
      [
        '14:03:22.104  conversation.created  attempt 2  ✓ verified',
        '              evt_1  dlv_1',
        '              {',
        '                "type": "conversation.created",',
        '                "schemaVersion": 1,',
        '                "orgId": "org_1",',
        '                "createdAt": "2026-11-20T09:30:00.000Z",',
        '                "data": {',
        '                  "conversationId": "cnv_1",',
        '                  "channelId": "chn_1",',
        '                  "externalUserId": "visitor"',
        '                }',
        '              }',
      ].join('\n'),
    );
  });

  it('differs with colours only in the colours', () => {
    const shown = renderDelivery(aDelivery(), true, coloured);
    expect(shown).not.toBe(stripVTControlCharacters(shown));
    expect(stripVTControlCharacters(shown)).toBe(renderDelivery(aDelivery(), true, plain));
  });

  it('marks a duplicate', () => {
    expect(renderDelivery(aDelivery(), true, plain)).toContain('duplicate');
  });

  it('says why a signature does not verify', () => {
    const delivery = aDelivery({ verification: { kind: 'refused', reason: 'No matching signature found' } });
    expect(renderDelivery(delivery, false, plain)).toContain('✗ No matching signature found');
  });

  it('contains no control sequence of a received text', () => {
    const steering = '\u001b[2J\u009b31m';
    const shown = renderDelivery(
      aDelivery({
        path: `/${steering}`,
        headers: { 'webhook-id': steering, 'webhook-attempt': steering },
        body: Buffer.from(steering),
      }),
      false,
      plain,
    );
    expect(shown).not.toMatch(/[^\P{Cc}\n]/u);
  });

  it('shows the request line of a request that is no delivery', () => {
    const shown = renderDelivery(
      aDelivery({ method: 'GET', path: '/favicon.ico', headers: {}, body: Buffer.alloc(0) }),
      false,
      plain,
    );
    expect(shown).toContain('GET /favicon.ico');
    expect(shown).toContain('no webhook-id');
    expect(shown).toContain('no body');
  });

  it('cuts a long body and says so', () => {
    const body = Buffer.from(JSON.stringify(Array.from({ length: 500 }, (_, index) => index)));
    const shown = renderDelivery(aDelivery({ body }), false, plain);
    expect(shown.split('\n').length).toBeLessThan(70);
    expect(shown).toContain('more lines');
  });
});

describe('an answer on the screen', () => {
  const later = new Date(aDelivery().receivedAt.getTime() + 3000);

  it('shows status and time', () => {
    expect(renderAnswer(aDelivery(), { status: 500 }, later, plain)).toBe(
      '14:03:25.104  ← 500 after 3.0 s  dlv_1',
    );
  });

  it('shows a sender that did not wait for it', () => {
    expect(renderAnswer(aDelivery(), undefined, later, plain)).toContain('the sender hung up after 3.0 s');
  });
});
