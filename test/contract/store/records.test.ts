import { describe, expect, it } from 'vitest';
import { committer } from '../../../functions/aws/transaction.ts';
import { conversationStore, messageStore } from '../../../functions/conversations/conversations.ts';
import { locateRecord, readRecords } from '../../../functions/conversations/records.ts';
import { aConversation, aMessage, aTenant, NOW } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { cancelledError } from './faults.ts';

const engine = dynamoDb();

/**
 * A conversation that was resolved, its last message, and one that was never stored. Plain reads may still
 * see what was before the transaction, as DynamoDB's do while it applies one.
 */
async function aRecentChange({
  before,
  conflicts,
}: {
  before: 'absent' | 'open' | 'visible';
  conflicts: number;
}) {
  const client = engine.client();
  const { service } = await engine.tables(client);
  const tenant = aTenant();
  const resolved = aConversation({ status: 'resolved', resolvedAt: NOW.toISOString(), resolvedBy: 'api' });
  const message = aMessage({ conversationId: resolved.id });
  await committer(client)([
    ...[conversationStore(service).add(tenant, resolved)].flat(),
    messageStore(service).add(tenant, message),
  ]);
  const sent: string[] = [];
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (request) => {
        sent.push(commandName);
        if (
          sent.filter((name) => name === 'TransactGetItemsCommand').length <= conflicts &&
          /^Transact/.test(commandName)
        )
          throw cancelledError([true, false]);
        const answer = await next(request);
        const { Responses } = answer.output as { Responses?: Record<string, Record<string, object>[]> };
        if (commandName === 'BatchGetItemCommand' && Responses && before !== 'visible')
          for (const name of Object.keys(Responses))
            Responses[name] =
              before === 'absent'
                ? []
                : (Responses[name] ?? []).map(({ resolvedAt, ...row }) => ({
                    ...row,
                    ...(row.status && { status: { S: 'open' } }),
                  }));
        return answer;
      },
    { step: 'initialize', name: 'seesThePast' },
  );
  const shows = (record: object) => !('status' in record) || Object(record).resolvedAt === NOW.toISOString();
  const conversationId = resolved.id;
  const read = () =>
    readRecords(
      service,
      [{ conversationId }, { conversationId, messageId: message.id }, { conversationId }].flatMap((data) => {
        const place = locateRecord(tenant, data);
        return place ? { ...place, shows } : [];
      }),
    );
  return { sent, read, records: [resolved, message, resolved] };
}

describe('a record', () => {
  it.each([
    ['visible', 0, 0],
    ['absent', 0, 1],
    ['open', 0, 1],
    ['open', 3, 4],
  ] as const)(
    'is what the transaction of its event wrote, where it was %s before',
    async (before, conflicts, again) => {
      const { sent, read, records } = await aRecentChange({ before, conflicts });

      expect(await read()).toEqual(records);
      expect(sent).toEqual(['BatchGetItemCommand', ...Array(again).fill('TransactGetItemsCommand')]);
    },
  );

  it('is not guessed while its transaction goes on', async () => {
    const { read } = await aRecentChange({ before: 'open', conflicts: Number.POSITIVE_INFINITY });

    await expect(read()).rejects.toThrow('collided with writes 6 times');
  });
});
