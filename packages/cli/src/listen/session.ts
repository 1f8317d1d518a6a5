import type { Screen } from 'terminal/screen.ts';
import { type Client, ServiceError } from '../../../sdk/src/index.ts';
import type { Context } from '../context.ts';
import type { ReceivedDelivery } from '../receiver/receiver.ts';
import type { Verification } from '../receiver/signature.ts';
import { reportedError } from '../report.ts';
import type { DeliveryHistory } from './delivery-history.ts';

export interface ListenParts extends Context {
  screen: Screen;
  /** Called with each answered delivery, for programs. */
  onResult?(result: ListenResult): void;
}

/** An answered delivery; without a status there was no answer. */
interface ListenResult {
  receivedAt: string;
  eventId: string;
  deliveryId: string | null;
  attempt: number | null;
  isDuplicate: boolean;
  verification: Verification;
  status: number | null;
  /** The exact text. */
  body: string;
}

export function resultOf(
  { receivedAt, headers, verification, body }: ReceivedDelivery,
  status: number | undefined,
  history: DeliveryHistory,
): ListenResult {
  const eventId = headers['webhook-id'] ?? '';
  const attempt = Number(headers['webhook-attempt']);
  return {
    receivedAt: receivedAt.toISOString(),
    eventId,
    deliveryId: headers['webhook-delivery-id'] ?? null,
    attempt: Number.isInteger(attempt) ? attempt : null,
    isDuplicate: history.isDuplicate(eventId),
    verification,
    status: status ?? null,
    body: body.toString('utf8'),
  };
}

/** For the receiver that deliveries are posted to: it verifies them itself. */
export const renderSecret = (secret: string): string => `  The signing secret for your receiver is ${secret}`;

/** The last line. A delivery has several attempts where it was not accepted at first. */
export function renderSummary(deliveries: number, attempts: number): string {
  if (deliveries === 0) return 'Received no deliveries.';
  const received = deliveries === 1 ? 'one delivery' : `${deliveries} deliveries`;
  return `Received ${received}${attempts === deliveries ? '' : ` in ${attempts} attempts`}.`;
}

/** Deletes the endpoint of a command. Ignores failures: the service may have stopped first. */
export async function remove(endpointId: string, client: Client, screen: Screen): Promise<void> {
  try {
    await client.endpoints.delete(endpointId, { maxRetries: 0 });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    screen.print(`  ${endpointId} stays registered: ${reportedError(error).message}`);
    screen.print(`  To delete it: conversations api DELETE /api/v1/webhooks/${endpointId}`);
  }
}
