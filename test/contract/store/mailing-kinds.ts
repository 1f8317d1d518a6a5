import type { NotifyPorts } from '../../../functions/engine/notifications.ts';
import { mailingStore } from '../../../functions/store/mailings.ts';
import { MemoryMailings } from '../../doubles/memory-mailings.ts';
import { dynamoDb } from '../../engines.ts';

/** Both kinds of mailing stores, new for each test. */
export function mailingKinds(
  engine = dynamoDb(),
): [name: string, make: () => Promise<NotifyPorts['mailings']>][] {
  return [
    ['memory', async () => new MemoryMailings()],
    ['dynamodb', async () => mailingStore((await engine.tables()).mailings)],
  ];
}
