import type { AttemptPorts } from '../../functions/delivery/attempt.ts';
import type { ClaimedDelivery, SendAttempt } from '../../functions/delivery/delivery.ts';
import { DEFAULT_ATTEMPT_TIMEOUT_SECONDS } from '../../functions/delivery/timing.ts';
import { simulatedReceiver } from '../../functions/delivery/webhook-sender.ts';
import { SLOW_AFTER_SECONDS } from '../../functions/receivers/pace.ts';
import { gate, type Permit, requirePermit } from '../../functions/tenancy/gate.ts';
import type { OrganizationStates } from '../../functions/tenancy/organizations.ts';
import { Interference } from './calls.ts';
import { forever, type Process } from './processes.ts';
import type { World } from './world.ts';

type Result = Awaited<ReturnType<SendAttempt>>;

const NO_BODY = new Uint8Array();

/** What a receiver that refuses answers: some ask for time, by an attempt's number and delivery. */
const REFUSALS: readonly { status: number; retryAfter?: string; heldMs?: number }[] = [
  { status: 500 },
  { status: 503, retryAfter: '120', heldMs: 120_000 },
  { status: 429, retryAfter: '86400', heldMs: 3_600_000 },
  { status: 503, retryAfter: 'soon' },
  { status: 500, retryAfter: '120' },
];
const chooseRefusal = ({ id, attempts }: ClaimedDelivery) =>
  REFUSALS[(Number.parseInt(id.slice(-2), 16) + attempts) % REFUSALS.length] ?? { status: 500 };

const refusal = (status: number) =>
  ({ error: `the receiver answered ${status}`, errorCode: 'http_status' }) as const;

/**
 * Sends requests as the webhook sender does: through the gate, and then to the world's receivers or to a
 * simulated one.
 */
export function senderOf(
  world: World,
  process: Process,
  organizations: OrganizationStates,
): AttemptPorts['prepareSend'] {
  const { processes, receivers, witness, statistics } = world;
  const pass = gate((orgId) => organizations.of(orgId));

  /** Lets time pass, and resolves when a long time is over. */
  async function wait(ms: number, onSlow: () => void): Promise<void> {
    const slowMs = SLOW_AFTER_SECONDS * 1000;
    if (ms <= slowMs) {
      if (ms > 0) await processes.sleep(process, Math.ceil(ms) / 1000);
      return;
    }
    await processes.sleep(process, SLOW_AFTER_SECONDS);
    onSlow();
    await processes.sleep(process, Math.ceil(ms - slowMs) / 1000);
  }

  /** The outbound client without the network. */
  async function post(
    claimed: ClaimedDelivery,
    url: string,
    onSlow: () => void,
    permit: Permit,
  ): Promise<Result> {
    requirePermit(permit);
    const { webhookId, orgId, attempts, id } = claimed;
    const fate = await processes.stop(process, 'receiver.post');
    const answer = receivers.answer(webhookId, !world.isUntroubled);
    if (fate === 'fails' || answer === undefined) throw new Interference('the request could not be made');
    witness.resetDeletion.sends(permit.orgId, 'the world');
    witness.resetDeletion.sends(orgId, 'the world');
    witness.attemptStarts(process, claimed, url);
    statistics.count('attempts');
    world.trace?.(`${process.name}  posts attempt ${attempts} of ${id}: ${JSON.stringify(answer)}`);
    if (answer.status === 204) witness.attempts.accepted(claimed);
    if (fate === 'ends-after' || fate === 'lands-late') return forever();
    await wait(answer.seconds * 1000, onSlow);
    if (answer.status === undefined) return { error: 'no answer within 10 s', errorCode: 'timeout' };
    // The receiver accepted it, and the answer is lost.
    if (fate === 'fails-after') return { error: 'the connection was reset', errorCode: 'connection_closed' };
    if (answer.status === 204) return { status: 204 };
    const { status, retryAfter, heldMs = 0 } = chooseRefusal(claimed);
    witness.attempts.held(claimed, heldMs);
    const isRead = status === 429 || status === 503;
    return { ...refusal(status), status, ...(isRead && retryAfter !== undefined && { retryAfter }) };
  }

  async function simulate(claimed: ClaimedDelivery, url: string, onSlow: () => void): Promise<Result> {
    witness.resetDeletion.sends(claimed.orgId, 'a simulated receiver');
    witness.attemptStarts(process, claimed, url);
    statistics.count('attempts simulated');
    const receiver = simulatedReceiver({
      policy: { loopback: 'refuse' },
      timeoutMs: DEFAULT_ATTEMPT_TIMEOUT_SECONDS * 1000,
      wait: (ms) => wait(ms, onSlow),
    });
    const { result, request: simulated } = await receiver.post(
      { url: new URL(url), headers: {}, body: NO_BODY },
      claimed.attempts,
    );
    world.trace?.(
      `${process.name}  simulates attempt ${claimed.attempts} of ${claimed.id}: ${JSON.stringify(result)}`,
    );
    if (result.kind === 'failed') return { error: result.error, errorCode: result.errorCode, simulated };
    const { status } = result;
    if (status >= 300) return { ...refusal(status), status, simulated };
    witness.attempts.accepted(claimed);
    return { status, simulated };
  }

  async function noted(claimed: ClaimedDelivery, sent: Promise<Result>): Promise<Result> {
    const result = await sent;
    witness.attempts.answered(process, claimed);
    return result;
  }

  return ({ orgId }, { url }) =>
    pass<SendAttempt>(orgId, {
      live: async (permit) => (claimed, _event, onSlow) => noted(claimed, post(claimed, url, onSlow, permit)),
      sandbox: async () => (claimed, _event, onSlow) => noted(claimed, simulate(claimed, url, onSlow)),
    }).catch((error: unknown) => {
      if (error instanceof Error && error.name === 'GateClosed')
        statistics.count('attempts before a closed gate');
      throw error;
    });
}
