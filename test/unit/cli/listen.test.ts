import { stripVTControlCharacters, styleText } from 'node:util';
import { type Paint, plain } from 'terminal/paint.ts';
import { describe, expect, it } from 'vitest';
import { renderAnswer, renderDelivery } from '../../../packages/cli/src/delivery-view.ts';
import { listenCommand, toListenArguments } from '../../../packages/cli/src/listen/arguments.ts';
import { DeliveryHistory } from '../../../packages/cli/src/listen/delivery-history.ts';
import { statusFor } from '../../../packages/cli/src/listen/receive.ts';
import { renderSummary } from '../../../packages/cli/src/listen/session.ts';
import { usageError } from '../../support/command-line.ts';
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

describe('delivery history', () => {
  it('calls a delivery a duplicate once it was accepted', () => {
    const history = new DeliveryHistory();
    expect(history.isDuplicate('dlv_1')).toBe(false);
    history.answered('dlv_1', 500);
    expect(history.isDuplicate('dlv_1')).toBe(false);
    history.answered('dlv_1', 204);
    expect(history.isDuplicate('dlv_1')).toBe(true);
    expect(history.isDuplicate('dlv_2')).toBe(false);
  });

  it('counts the attempts of each delivery', () => {
    const history = new DeliveryHistory();
    history.answered('dlv_1', 500);
    history.answered('dlv_1', 500);
    history.answered('dlv_2', 500);
    expect([history.attemptsOf('dlv_1'), history.attemptsOf('dlv_2'), history.attemptsOf('dlv_3')]).toEqual([
      2, 1, 0,
    ]);
  });

  it('drops the oldest ones', () => {
    const history = new DeliveryHistory();
    for (let index = 0; index <= 10_000; index += 1) history.answered(`dlv_${index}`, 200);
    expect(history.isDuplicate('dlv_0')).toBe(false);
    expect(history.isDuplicate('dlv_1')).toBe(true);
  });
});

describe('status sequence', () => {
  it('returns the statuses in order and stays at the last one', () => {
    expect([0, 1, 2, 3].map((before) => statusFor([500, 429, 200], before))).toEqual([500, 429, 200, 200]);
  });
});

describe('the last line of listening', () => {
  it.each([
    [0, 0, 'Received no deliveries.'],
    [1, 1, 'Received one delivery.'],
    [1, 3, 'Received one delivery in 3 attempts.'],
    [3, 3, 'Received 3 deliveries.'],
    [3, 9, 'Received 3 deliveries in 9 attempts.'],
  ])('counts %i deliveries with %i attempts as "%s"', (deliveries, attempts, line) => {
    expect(renderSummary(deliveries, attempts)).toBe(line);
  });
});

const readListenArguments = (args: readonly string[]) =>
  toListenArguments(listenCommand().parse(args, { from: 'user' }).opts());

describe('arguments of listen', () => {
  it('register for all events on any port and accept everything by default', () => {
    expect(readListenArguments([])).toEqual({
      port: 0,
      statuses: [200],
      delayMs: 0,
      events: [
        'conversation.created',
        'message.received',
        'handoff.requested',
        'ticket.created',
        'conversation.resolved',
        'conversation.deleted',
        'webhook.failing',
        'webhook.disabled',
        'webhook.recovered',
      ],
    });
  });

  it('set every flag', () => {
    const read = readListenArguments([
      '--port=4000',
      '--status',
      '500, 429,200',
      '--delay',
      '1.5',
      '--type',
      'ticket.created,message.received',
    ]);
    expect(read).toMatchObject({
      port: 4000,
      statuses: [500, 429, 200],
      delayMs: 1500,
      events: ['ticket.created', 'message.received'],
    });
    expect(readListenArguments(['--forward', 'http://localhost:4000/hook']).forward?.href).toBe(
      'http://localhost:4000/hook',
    );
  });

  it('use a fixed port for an endpoint that is registered by hand', () => {
    expect(readListenArguments(['--secret', 'whsec_c2VjcmV0'])).toMatchObject({
      port: 4433,
      secret: 'whsec_c2VjcmV0',
    });
    expect(readListenArguments(['--secret', 'whsec_c2VjcmV0', '--port', '5000']).port).toBe(5000);
  });

  it.each([
    [['--port', '70000'], '--port'],
    [['--port', 'x'], '--port'],
    [['--status', '99'], '--status'],
    [['--status', '500,,200'], '--status'],
    [['--status', '100'], '--status'],
    [['--delay', 'long'], '--delay'],
    [['--delay', '61'], '--delay'],
    [['--forward', 'localhost:4000'], '--forward'],
    [['--type', 'conversation.*'], '--type'],
    [['--secret', 'hunter2'], '--secret'],
    [['--endpoint', 'whk_1', '--status', '500'], '--endpoint'],
    [['--endpoint', 'cnv_1'], '--endpoint'],
    [['--since', 'yesterday'], '--since'],
    [['--secret', 'whsec_c2VjcmV0', '--type', 'ticket.created'], '--secret'],
    [['--verbose'], '--verbose'],
    [['now'], 'too many arguments'],
  ])('are refused with a message about %j', (args, name) => {
    expect(usageError(() => readListenArguments(args))).toContain(name);
  });
});
