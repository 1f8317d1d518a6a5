import { describe, expect, it } from 'vitest';
import { listenCommand, toListenArguments } from '../../../packages/cli/src/listen/arguments.ts';
import { usageError } from '../../support/command-line.ts';

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
