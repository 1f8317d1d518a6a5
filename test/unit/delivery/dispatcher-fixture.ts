import { type DeliveryMessage, toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import {
  type DeliveryMessagePorts,
  processDeliveryMessages,
  type ReceivedDeliveryMessage,
} from '../../../functions/delivery/dispatch.ts';
import type { Lane } from '../../../functions/delivery/lanes.ts';
import type { MessageDisposition } from '../../../functions/delivery/settle.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import { aDelivery, anEndpoint, NOW } from '../../builders.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';

/** Messages of deliveries to one endpoint, as they were received. */
export const messagesFor = (
  count: number,
  { id: webhookId, orgId }: Pick<Endpoint, 'id' | 'orgId'> = anEndpoint(),
  of: Partial<Tenant> = {},
): ReceivedDeliveryMessage[] =>
  Array.from({ length: count }, () => {
    const deliveryMessage = toDeliveryMessage(aDelivery({ webhookId, orgId, ...of }));
    return { message: deliveryMessage, receiptHandle: `receipt of ${deliveryMessage.id}` };
  });

export const DELETED: MessageDisposition = { kind: 'delete' };

/** A dispatcher whose attempts the test answers, and whose queues record the order of their calls. */
export function aDispatcher(
  processMessage: (
    deliveryMessage: DeliveryMessage,
    lane: Lane,
  ) => Promise<MessageDisposition> | MessageDisposition,
  replaced: Partial<DeliveryMessagePorts> = {},
) {
  const log = recordedLog();
  /** The calls of the queues. */
  const asked: { what: 'send' | 'hide'; lane: Lane; id: string; until: Date | undefined }[] = [];
  /** The messages that were processed. */
  const processed: DeliveryMessage[] = [];
  const run = processDeliveryMessages({
    async attempt(deliveryMessage, _context, lane) {
      processed.push(deliveryMessage);
      return processMessage(deliveryMessage, lane);
    },
    organizations: memoryOrganizationStates(),
    contexts: async () => () => ({ endpoint: undefined, event: undefined }),
    queues: {
      async send(lane, messages) {
        for (const { message: deliveryMessage, until } of messages)
          asked.push({ what: 'send', lane, id: deliveryMessage.id, until });
        return [];
      },
      async hide(lane, receiptHandle, until) {
        asked.push({ what: 'hide', lane, id: receiptHandle, until });
      },
    },
    log,
    now: () => NOW,
    ...replaced,
  });
  return { run, asked, processed, log };
}

/** Attempts that each wait until the test lets them go on. */
export class HeldAttempts {
  readonly #held = new Map<string, () => void>();
  /** The messages whose attempts have begun, in that order. */
  readonly begun: DeliveryMessage[] = [];

  /** Number of attempts in progress. */
  get underWay(): number {
    return this.#held.size;
  }

  readonly processMessage = (deliveryMessage: DeliveryMessage): Promise<MessageDisposition> => {
    this.begun.push(deliveryMessage);
    return new Promise((resolve) => {
      this.#held.set(deliveryMessage.id, () => resolve(DELETED));
    });
  };

  /** Ends all attempts in progress that are wanted. */
  end(wanted: (id: string) => boolean = () => true): void {
    for (const [id, goOn] of this.#held) {
      if (!wanted(id)) continue;
      this.#held.delete(id);
      goOn();
    }
  }
}
