import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  discardLetters,
  listLetters,
  redriveLetters,
  showLetter,
} from '../../../lib/operate/dead-letters.ts';
import { aBusEvent } from '../../builders.ts';
import { operators, refusal } from './operator-commands.ts';

const anOperator = operators();

interface Listed {
  letters: { id: string; type?: string; ids: string[] }[];
}

/** Messages of events in the meter's dead-letter queue. */
async function setUp(count: number) {
  const { context, queues } = await anOperator();
  const { sqs } = context().clients;
  const events = Array.from({ length: count }, () => aBusEvent({ data: { text: 'canary' } }));
  for (const detail of events)
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: queues.meter.deadLetterUrl,
        MessageBody: JSON.stringify({ 'detail-type': detail.type, detail }),
        MessageAttributes: { ERROR_CODE: { DataType: 'String', StringValue: 'NO_PERMISSIONS' } },
      }),
    );
  const list = async () => (await listLetters(context(), ['meter'])).data as Listed;
  const receive = async (QueueUrl: string) =>
    (await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 })))
      .Messages ?? [];
  return { context, events, list, received: () => receive(queues.meter.url), queues };
}

// Each test has queues of its own, and waits for late messages.
describe.concurrent('dead letters', () => {
  it('are listed with their events, repeatedly', async () => {
    const { events, list, context } = await setUp(12);
    for (let round = 0; round < 2; round++) {
      const { letters } = await list();
      expect(letters).toHaveLength(12);
      expect(letters.map(({ ids }) => ids[0]).toSorted()).toEqual(events.map(({ id }) => id).toSorted());
    }
    const { text } = await listLetters(context(), ['meter']);
    expect(text).toContain(events[0]?.orgId);
    expect(text).not.toContain('canary');
  });

  it("are shown one by one, with EventBridge's fields and without customer data", async () => {
    const { list, context } = await setUp(2);
    const { letters } = await list();
    const { text } = await showLetter(context(), ['meter', letters[0]?.id ?? '']);
    expect(text).toContain('NO_PERMISSIONS');
    expect(text).toContain('made of');
    expect(text).not.toContain('canary');
    expect(await refusal(showLetter(context(), ['meter', 'none']))).toContain('has no letter none');
  });

  it('are redriven unchanged to their queue', async () => {
    const { context, events, list, received } = await setUp(3);
    await redriveLetters(context({ yes: true }), ['meter']);
    expect((await list()).letters).toEqual([]);
    const bodies = (await received()).map(({ Body = '' }) => JSON.parse(Body).detail);
    expect(bodies).toHaveLength(3);
    expect(bodies).toEqual(expect.arrayContaining(events));
  });

  it('are redriven one by one or by number, and the others stay', async () => {
    const { context, list } = await setUp(3);
    const { letters } = await list();
    await redriveLetters(context({ yes: true, ids: [letters[1]?.id ?? ''] }), ['meter']);
    const left = await list();
    expect(left.letters.map(({ id }) => id)).toEqual([letters[0]?.id, letters[2]?.id]);
    await redriveLetters(context({ yes: true, max: 1 }), ['meter']);
    expect((await list()).letters).toHaveLength(1);
  });

  it('are deleted after they were saved in a file for the owner only', async () => {
    const { context, list, events, received } = await setUp(2);
    const directory = mkdtempSync(join(tmpdir(), 'letters-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const save = join(directory, 'letters.jsonl');
    await discardLetters(context({ yes: true, save }), ['meter']);
    expect((await list()).letters).toEqual([]);
    expect(await received()).toEqual([]);
    const lines = readFileSync(save, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(JSON.parse(line).body).detail)).toEqual(
      expect.arrayContaining(events),
    );
    expect(statSync(save).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['given back', redriveLetters],
    ['deleted', discardLetters],
  ] as const)('are not %s without --yes, and shown with --dry-run', async (_, command) => {
    const { context, list } = await setUp(2);
    expect(await refusal(command(context(), ['meter']))).toContain('repeat with --yes');
    const { text } = await command(context({ dryRun: true, yes: true }), ['meter']);
    expect(text).toContain('Nothing was done.');
    expect((await list()).letters).toHaveLength(2);
  });

  it('of an unknown queue, or without a source queue, are refused', async () => {
    const { context } = await anOperator();
    expect(await refusal(listLetters(context(), ['metre']))).toContain('There are: delivery, meter.');
    const redriven = redriveLetters(context({ yes: true }), ['delivery']);
    expect(await refusal(redriven)).toContain('have no queue to go back to');
  });
});
