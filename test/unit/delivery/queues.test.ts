import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { logger } from '../../../functions/aws/logger.ts';
import { publishMetrics, UNREADABLE_MESSAGES } from '../../../functions/aws/metrics.ts';
import { toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { parseDeliveryMessage } from '../../../functions/delivery/queues.ts';
import { aDelivery } from '../../builders.ts';

const printed: string[] = [];
const lines: unknown[][] = [];

beforeEach(() => {
  printed.length = 0;
  lines.length = 0;
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
  vi.spyOn(logger, 'log').mockImplementation((...line) => void lines.push(line));
});
afterEach(() => vi.restoreAllMocks());

const counted = async () => {
  publishMetrics();
  return printed.filter((line) => line.includes(UNREADABLE_MESSAGES)).length;
};

describe('parseDeliveryMessage', () => {
  it('returns the message that was sent', async () => {
    const message = toDeliveryMessage(aDelivery());
    expect(parseDeliveryMessage(JSON.stringify(message), 'message-1')).toEqual(message);
    expect([lines, await counted()]).toEqual([[], 0]);
  });

  it.each([
    '',
    'null',
    '{}',
    '{"id":',
    JSON.stringify({ ...toDeliveryMessage(aDelivery()), id: 'evt_1' }),
    JSON.stringify({ ...toDeliveryMessage(aDelivery()), generation: 'first' }),
  ])('drops %j, with a log line and a metric', async (body) => {
    expect(parseDeliveryMessage(body, 'message-1')).toBeUndefined();
    expect(lines).toEqual([['REMINDER_UNREADABLE', { messageId: 'message-1', error: expect.any(Error) }]]);
    expect(await counted()).toBe(1);
  });
});
